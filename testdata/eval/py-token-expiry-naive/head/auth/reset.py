from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import transaction

from auth.models import PasswordReset, User

LIFETIME = timedelta(hours=1)


class BadLink(Exception):
    """The link is none of ours, was used, or is too old."""


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def new_link(user: User) -> str:
    """A token for the mail. Only its digest is stored."""
    token = secrets.token_urlsafe(32)
    PasswordReset.objects.create(
        user=user,
        token_hash=digest(token),
        expires_at=datetime.now() + LIFETIME,
    )
    return token


@transaction.atomic
def set_password(token: str, password: str) -> User:
    reset = PasswordReset.objects.filter(token_hash=digest(token), used_at=None).first()
    if reset is None:
        raise BadLink
    if reset.expires_at < datetime.utcnow():
        raise BadLink
    user = reset.user
    user.set_password(password)
    user.save(update_fields=["password"])
    user.sessions.all().delete()
    return user
