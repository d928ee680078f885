import logging

from celery import shared_task
from django.core.mail import send_mail
from django.template.loader import render_to_string

from accounts.models import User

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def send_welcome_mail(user_id: int) -> None:
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        logger.info("no welcome mail: user %s is gone", user_id)
        return
    send_mail(
        subject="Welcome",
        message=render_to_string("mail/welcome.txt", {"user": user}),
        from_email=None,
        recipient_list=[user.email],
    )
