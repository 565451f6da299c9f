"""What is said of letters, where a mail server is there to send them and where none is."""

import pytest
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from accounts.models import User
from tests.conftest import Cast
from tests.pages import browser_of, text_of

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
    assert "Hello from Memory Hub!" in letter.body
    assert "example.com" not in letter.body


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
