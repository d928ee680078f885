from unittest import mock

from accounts.services import sign_up
from accounts.tasks import send_welcome_mail


def test_mail_is_queued_after_the_commit(django_capture_on_commit_callbacks, db):
    with mock.patch.object(send_welcome_mail, "delay") as delay:
        with django_capture_on_commit_callbacks(execute=True):
            user = sign_up("kim@example.com", "correct horse", "Kim's team")
            delay.assert_not_called()
    delay.assert_called_once_with(user.pk)


def test_who_is_gone_gets_no_mail(db, mailoutbox):
    send_welcome_mail(0)
    assert mailoutbox == []
