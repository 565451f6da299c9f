"""What is said of letters, where a mail server is there to send them and where none is."""

import time

import pytest
import time_machine
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from accounts.models import User
from tests.accounts.views.test_signing_in import PASSWORD, set_up
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of

WORDS = (
    "authenticator app activated",
    "recovery codes",
    "authenticator app deactivated",
    "password has been changed",
)
RESET = "/accounts/password/reset/"


@pytest.fixture
def without_letters(settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def address_of(cast: Cast) -> str:
    return User.objects.get(id=cast.teammate.user_id).email


def test_a_letter_about_a_forgotten_password_is_signed_by_the_hub(cast: Cast) -> None:
    answer = Client().post(RESET, {"email": address_of(cast)}, follow=True)
    assert "a letter with a link is on its way" in text_of(answer)
    (letter,) = mail.outbox
    assert letter.subject.startswith("Memory Hub: ")
    assert letter.from_email == "Memory Hub <memoryhub@testserver>"
    assert "Memory Hub, http://testserver" in letter.body
    assert "example.com" not in letter.body


@pytest.mark.django_db(transaction=True)  # a letter goes once the change is committed
def test_whatever_changes_how_one_signs_in_is_told_by_a_letter(cast: Cast) -> None:
    address, new = address_of(cast), {"password1": "another long phrase", "password2": "another long phrase"}
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        client = freshly_signed_in(cast.teammate, time.time())
        set_up(client)
        client.post("/accounts/2fa/recovery-codes/generate/")
        client.post("/accounts/2fa/totp/deactivate/")
        client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **new})
    told = [letter for letter in mail.outbox if "How you sign in has changed:" in letter.body]
    assert {letter.to[0] for letter in told} == {address}
    assert [word for word in WORDS if not any(word in letter.body.lower() for letter in told)] == []
    assert "On March 2, 2026, noon, from 127.0.0.1, with " in told[0].body
    assert "ask for a new password now" in told[0].body


@pytest.mark.usefixtures("without_letters")
def test_without_a_mail_server_a_forgotten_password_has_another_way_and_nothing_is_written(
    cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, done = Client().get(RESET), Client().post(RESET, {"email": address_of(cast)}, follow=True)
    for said in map(text_of, (asked, done)):
        assert "This hub sends no letters" in said
        assert "memoryhub member reset" in said
        assert "on its way" not in said
    written = capsys.readouterr()
    assert "/password/reset/key/" not in written.out + written.err


@pytest.mark.usefixtures("without_letters")
def test_without_a_mail_server_no_address_is_asked_for(
    cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    client = browser_of(cast.teammate)
    client.post("/accounts/email/", {"email": "new@acme.example", "action_add": ""})
    page = client.get("/accounts/email/")
    assert "This hub sends no letters" in text_of(page)
    assert "on its way" not in text_of(page)
    assert 'name="action_add"' not in page.content.decode()
    written = capsys.readouterr()
    assert "/confirm-email/" not in written.out + written.err
