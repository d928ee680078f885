from django.db import transaction

from accounts.models import Team, User
from accounts.tasks import send_welcome_mail


@transaction.atomic
def sign_up(email: str, password: str, team_name: str) -> User:
    """Creates a user with a team of their own."""
    user = User.objects.create_user(email=email, password=password)
    send_welcome_mail.delay(user.pk)
    team = Team.objects.create(name=team_name, owner=user)
    team.members.add(user)
    return user
