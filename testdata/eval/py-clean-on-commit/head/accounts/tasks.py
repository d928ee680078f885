from celery import shared_task
from django.core.mail import send_mail
from django.template.loader import render_to_string

from accounts.models import User


@shared_task(ignore_result=True, autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def send_welcome_mail(user_id: int) -> None:
    """Welcomes a user, unless they are gone by now."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        return
    send_mail(
        subject="Welcome",
        message=render_to_string("mail/welcome.txt", {"user": user}),
        from_email=None,
        recipient_list=[user.email],
    )
