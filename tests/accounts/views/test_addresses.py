import re
import time
from smtplib import SMTPException
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.test import Client

from accounts.actor import Actor
from accounts.domain.accounts import person_actor
from accounts.domain.addresses import is_proven
from accounts.domain.invitations import accept_invitation, invite
from accounts.models import User
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of

PASSWORD = "a long enough phrase"
HERE = "/accounts/email/"
ASKED = {"email": "new@acme.example", "action_add": ""}


def address_of(cast: Cast) -> str:
    return User.objects.get(id=cast.teammate.user_id).email


def newcomer(cast: Cast, email: str) -> tuple[User, Client]:
    """By a link that names nobody, with an address that they say is theirs."""
    with tenant(cast.account.id):
        token = invite(cast.owner, Role.MEMBER).token
        user = accept_invitation(token, email=email, name="New", password=PASSWORD)
    assert user
    return user, fresh(person_actor(user, cast.account.slug))


def fresh(person: Actor) -> Client:
    return freshly_signed_in(person, time.time())


def link_in_letter() -> str:
    """In the last that has one."""
    found = [re.search(r"/accounts/confirm-email/\S+", str(letter.body)) for letter in mail.outbox]
    return [link[0] for link in found if link][-1]


def test_a_new_address_counts_once_the_link_in_its_letter_is_opened(cast: Cast) -> None:
    client, before = fresh(cast.teammate), address_of(cast)
    client.post(HERE, {"email": "new@acme.example", "action_add": ""})
    assert address_of(cast) == before
    assert "on its way to new@acme.example" in text_of(client.get(HERE))

    (letter,) = mail.outbox
    assert letter.to == ["new@acme.example"]
    client.post(link_in_letter())
    assert address_of(cast) == "new@acme.example"
    told = mail.outbox[1]
    assert told.to == [before]
    assert f"from {before} to new@acme.example" in told.body
    assert "tell an owner of your team" in told.body
    assert "new password" not in told.body  # which is the new address's to ask for


def test_an_address_on_its_way_can_be_given_up(cast: Cast) -> None:
    client, before = fresh(cast.teammate), address_of(cast)
    client.post(HERE, {"email": "new@acme.example", "action_add": ""})
    client.post(HERE, {"email": "new@acme.example", "action_remove": ""})
    client.post(link_in_letter())
    assert address_of(cast) == before


def test_an_address_that_is_only_said_is_proven_by_a_letter_to_it(cast: Cast) -> None:
    user, client = newcomer(cast, "new@acme.example")
    assert "Nothing has shown yet" in text_of(client.get(HERE))
    client.post(HERE, {"email": user.email, "action_send": ""})
    assert mail.outbox[-1].to == [user.email]
    assert not is_proven(user)
    client.post(link_in_letter())
    assert is_proven(user)
    assert "Nothing has shown yet" not in text_of(client.get(HERE))


def test_a_letter_that_somebody_else_opens_proves_nothing_for_who_had_it_sent(cast: Cast) -> None:
    user, client = newcomer(cast, "victim@corp.example")
    client.post(HERE, {"email": user.email, "action_send": ""})
    for opening in (Client(), browser_of(cast.viewer)):
        opening.post(link_in_letter())
        assert not is_proven(user)


@pytest.mark.parametrize("action", ["action_primary", "action_remove", "action_add"])
def test_whatever_is_asked_the_address_one_signs_in_with_stays_until_another_is_proven(
    cast: Cast, action: str
) -> None:
    user, client = newcomer(cast, "new@acme.example")
    client.post(HERE, {"email": "other@acme.example", "action_add": ""})
    for email in ("other@acme.example", "new@acme.example", "owner@acme.example"):
        client.post(HERE, {"email": email, action: ""})
    user.refresh_from_db()
    assert user.email == "new@acme.example"
    assert EmailAddress.objects.get(user=user, primary=True).email == "new@acme.example"
    assert Client().post("/accounts/login/", {"login": user.email, "password": PASSWORD}).status_code == 302


def test_nobody_is_pushed_out_of_an_address_that_another_proves(cast: Cast) -> None:
    """Who can read its letters resets the password instead, and has it."""
    squatter, _ = newcomer(cast, "victim@corp.example")
    client, before = fresh(cast.teammate), address_of(cast)
    client.post(HERE, {"email": squatter.email, "action_add": ""})
    assert "already" in text_of(client.post(link_in_letter(), follow=True))
    assert address_of(cast) == before
    squatter.refresh_from_db()
    assert squatter.email == "victim@corp.example"


def test_a_forgotten_password_is_reset_by_the_address_one_signs_in_with_alone(cast: Cast) -> None:
    client, before = fresh(cast.teammate), address_of(cast)
    client.post(HERE, {"email": "elsewhere@evil.example", "action_add": ""})
    mail.outbox.clear()
    Client().post("/accounts/password/reset/", {"email": "elsewhere@evil.example"})
    assert not any("/password/reset/key/" in letter.body for letter in mail.outbox)
    mail.outbox.clear()
    Client().post("/accounts/password/reset/", {"email": before})
    assert [letter.to for letter in mail.outbox if "/password/reset/key/" in letter.body] == [[before]]


@pytest.mark.parametrize(("allowed", "status"), [(False, 302), (True, 200)])
def test_a_second_step_waits_for_the_proof_where_there_is_a_mail_server(
    cast: Cast, settings: Any, allowed: bool, status: int
) -> None:
    settings.MFA_ALLOW_UNVERIFIED_EMAIL = allowed
    user, _ = newcomer(cast, "new@acme.example")
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert client.get("/accounts/2fa/totp/activate/").status_code == status


def test_without_a_mail_server_people_come_and_sign_in_all_the_same(cast: Cast, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    user, client = newcomer(cast, "new@acme.example")
    assert "no mail server" in text_of(client.get(HERE))
    assert "Send a letter" not in text_of(client.get(HERE))
    again = Client()
    assert again.post("/accounts/login/", {"login": user.email, "password": PASSWORD}).status_code == 302
    assert again.get("/a/acme/main/memories/").status_code == 200


def test_another_address_is_asked_for_by_who_has_just_shown_who_they_are(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    answer = client.post(HERE, ASKED)
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert mail.outbox == []
    client.post(answer["Location"], {"password": "wrong"})
    assert mail.outbox == []
    client.post(answer["Location"], {"password": "correct horse battery"})
    assert [letter.to for letter in mail.outbox] == [["new@acme.example"]]


class Broken(BaseEmailBackend):
    def send_messages(self, messages: Any) -> int:
        raise SMTPException("full")


def test_a_change_stands_though_the_letter_about_it_can_not_be_sent(cast: Cast, settings: Any) -> None:
    client = fresh(cast.teammate)
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    sent = {
        "oldpassword": "correct horse battery",
        **dict.fromkeys(("password1", "password2"), "a long new phrase"),
    }
    assert client.post("/accounts/password/change/", sent).status_code == 302
    assert User.objects.get(id=cast.teammate.user_id).check_password("a long new phrase")


# Letters


@pytest.mark.parametrize("host", ["testserver", "localhost:6666", "127.0.0.1"])
@pytest.mark.parametrize("known", [True, False])
def test_a_letter_leads_to_the_hub_whatever_host_it_was_asked_for_at(
    cast: Cast, settings: Any, host: str, known: bool
) -> None:
    settings.PUBLIC_URL, settings.PUBLIC_HOST = "https://hub.example", "hub.example"
    address = address_of(cast) if known else "nobody@acme.example"
    Client().post("/accounts/password/reset/", {"email": address}, headers={"host": host})
    (letter,) = mail.outbox
    text = f"{letter.subject} {letter.body}"
    assert ("https://hub.example/accounts/password/reset/key/" in text) is known
    assert re.findall(r"https?://(?!hub\.example(?:/|\s|$))|localhost|127\.0|testserver", text) == []


def test_the_letter_to_a_new_address_leads_to_the_hub(cast: Cast, settings: Any) -> None:
    settings.PUBLIC_URL = "https://hub.example"
    fresh(cast.teammate).post(HERE, ASKED, headers={"host": "localhost:6666"})
    (letter,) = mail.outbox
    assert "https://hub.example/accounts/confirm-email/" in letter.body
    assert "localhost" not in letter.body


# Whether somebody has an address here is told to nobody


@pytest.mark.parametrize("page", ["login", "password/reset", "signup", "email"])
def test_an_address_that_is_known_is_answered_as_one_that_is_not(cast: Cast, page: str) -> None:
    def asked(address: str) -> tuple[int, str, str]:
        client = fresh(cast.teammate) if page == "email" else Client()
        sent = {
            "login": address,
            "email": address,
            "password": "wrong phrase",
            "password1": "a long new phrase",
        }
        answer = client.post(f"/accounts/{page}/", {**sent, "action_add": ""})
        shown = text_of(client.get(answer["Location"])) if answer.status_code == 302 else text_of(answer)
        shown = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', "", shown)
        return answer.status_code, answer.get("Location", ""), shown.replace(address, "…")

    assert asked("owner@globex.example") == asked("nobody@globex.example")


def test_tries_at_one_account_are_counted_together_whatever_host_they_name(cast: Cast) -> None:
    wrong = {"login": "owner@acme.example", "password": "wrong"}
    for number in range(6):
        Client(REMOTE_ADDR=f"192.0.2.{number}").post(
            "/accounts/login/", wrong, headers={"host": f"localhost:{6000 + number}"}
        )
    last = Client(REMOTE_ADDR="192.0.2.99")
    last.post("/accounts/login/", {**wrong, "password": "correct horse battery"})
    assert last.get("/a/acme/keys/").status_code == 302
