import re

from django.core import mail

from accounts.models import User
from tests.conftest import Cast
from tests.pages import browser_of, text_of


def address_of(cast: Cast) -> str:
    return User.objects.get(id=cast.teammate.user_id).email


def test_a_new_address_counts_once_the_link_in_its_letter_is_opened(cast: Cast) -> None:
    client, before = browser_of(cast.teammate), address_of(cast)
    client.post("/accounts/email/", {"email": "new@acme.example", "action_add": ""})
    assert address_of(cast) == before
    assert "on its way to new@acme.example" in text_of(client.get("/accounts/email/"))

    (letter,) = mail.outbox
    assert letter.to == ["new@acme.example"]
    link = re.search(r"/accounts/confirm-email/\S+", letter.body)
    assert link
    client.post(link[0])
    assert address_of(cast) == "new@acme.example"


def test_an_address_on_its_way_can_be_given_up(cast: Cast) -> None:
    client, before = browser_of(cast.teammate), address_of(cast)
    client.post("/accounts/email/", {"email": "new@acme.example", "action_add": ""})
    (letter,) = mail.outbox
    client.post("/accounts/email/", {"email": "new@acme.example", "action_remove": ""})
    link = re.search(r"/accounts/confirm-email/\S+", letter.body)
    assert link
    client.post(link[0])
    assert address_of(cast) == before
