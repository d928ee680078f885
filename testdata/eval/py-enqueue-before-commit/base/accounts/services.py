from django.db import transaction

from accounts.models import Team, User
from accounts.mail import send_welcome


@transaction.atomic
def sign_up(email: str, password: str, team_name: str) -> User:
    user = User.objects.create_user(email=email, password=password)
    send_welcome(user)
    team = Team.objects.create(name=team_name, owner=user)
    team.members.add(user)
    return user
