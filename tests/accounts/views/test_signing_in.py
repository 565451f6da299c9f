"""Signing in with a password, a code or a recovery code, sessions and what ends them: over the pages themselves."""

import re
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from accounts.domain.addresses import is_proven
from accounts.domain.credentials import authenticate
from accounts.domain.sessions import Holder, roles_of
from accounts.models import User
from accounts.scopes import Role
from tests.conftest import Cast, make_key
from tests.pages import text_of

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
HOME = "/a/acme/keys/"


def signed_in(who: str = "owner", **options: Any) -> Client:
    client = Client(**options)
    sent = {"login": f"{who}@acme.example", "password": PASSWORD}
    assert client.post("/accounts/login/", sent).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get(HOME).status_code == 200


def code(seed: str, at: float | None = None) -> str:
    counter = int((at or time.time()) // 30)
    return str(format_hotp_value(hotp_value(seed, counter)))


def set_up(client: Client) -> str:
    """Turns the app on; the seed as it was shown."""
    answer = client.get("/accounts/2fa/totp/activate/")
    shown = text_of(answer)
    found = re.search(r'id="seed">([A-Z2-7]+)<', shown)
    assert found, answer.headers
    assert "<svg" in shown
    answer = client.post("/accounts/2fa/totp/activate/", {"code": code(found[1])})
    assert answer.status_code == 302
    return found[1]


def test_an_app_is_set_up_and_from_then_on_a_code_is_asked_for(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        seed = set_up(signed_in())
        row = Authenticator.objects.get(type="totp")
        assert seed not in str(row.data)
        client = signed_in()
        assert not is_in(client)
        assert client.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
        clock.shift(timedelta(minutes=1))
        client.post("/accounts/2fa/authenticate/", {"code": code(seed)})
        assert is_in(client)


def test_a_code_is_used_once(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        seed = set_up(signed_in())
        clock.shift(timedelta(minutes=1))
        first, second = signed_in(), signed_in()
        for client in (first, second):
            client.post("/accounts/2fa/authenticate/", {"code": code(seed)})
        assert (is_in(first), is_in(second)) == (True, False)


def test_a_recovery_code_lets_in_once(cast: Cast) -> None:
    set_up(owner := signed_in())
    shown = text_of(owner.get("/accounts/2fa/recovery-codes/"))
    [one, *_] = re.findall(r"\b\d{8}\b", shown)
    for lets_in in (True, False):
        client = signed_in()
        client.post("/accounts/2fa/authenticate/", {"code": one})
        assert is_in(client) is lets_in


@pytest.mark.django_db(transaction=True)
def test_a_changed_way_to_sign_in_ends_every_other_session_at_once(cast: Cast) -> None:
    elsewhere, here = signed_in(), signed_in()
    holder = Holder(
        elsewhere.session.session_key or "", cast.owner.user_id or cast.account.id, cast.account.id
    )
    assert roles_of([holder]) == {holder: Role.OWNER}
    set_up(here)
    assert (is_in(elsewhere), is_in(here)) == (False, True)
    assert roles_of([holder]) == {holder: None}
    assert UserSession.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_session_that_was_copied_before_the_change_is_no_session(cast: Cast) -> None:
    """Also where nobody has written down that it exists."""
    here, copied = signed_in(), Client()
    copied.force_login(User.objects.get(id=cast.owner.user_id))
    UserSession.objects.all().delete()
    set_up(here)
    assert (is_in(copied), is_in(here)) == (False, True)


def test_a_new_password_ends_every_session(cast: Cast) -> None:
    elsewhere, here = signed_in(), signed_in()
    sent = {"oldpassword": PASSWORD, "password1": "another long phrase", "password2": "another long phrase"}
    assert here.post("/accounts/password/change/", sent).status_code == 302
    assert (is_in(elsewhere), is_in(here)) == (False, False)


def reset(email: str, password: str) -> Any:
    """By the letter for who forgot theirs; the page at the end."""
    client = Client()
    client.post("/accounts/password/reset/", {"email": email})
    found = re.search(r"/accounts/password/reset/key/\S+", str(mail.outbox[-1].body))
    assert found
    form = client.get(found[0], follow=True)
    sent = {"password1": password, "password2": password}
    return client.post(form.redirect_chain[-1][0], sent, follow=True)


def test_a_reset_password_ends_every_session_and_tells_what_goes_on(cast: Cast) -> None:
    key, secret = make_key(cast.owner, cast.space)
    first, second = signed_in(), signed_in()
    holder = Holder(second.session.session_key or "", key.user_id or cast.account.id, cast.account.id)
    told = text_of(reset("owner@acme.example", "another long phrase"))
    assert (is_in(first), is_in(second), roles_of([holder])) == (False, False, {holder: None})
    assert not UserSession.objects.exists()
    assert not Session.objects.filter(session_key=holder.session_key).exists()
    assert ("Keys and clients" in told, "/acting/" in told) == (True, True)
    assert authenticate({"x-api-key": secret}, address="192.0.2.1").key_id == key.key_id


def test_a_reset_by_a_letter_proves_the_address_that_the_letter_went_to(cast: Cast) -> None:
    user = User.objects.create_user("new@acme.example", PASSWORD)
    reset(user.email, "another long phrase")
    assert is_proven(user)


def test_who_changes_their_password_is_told_that_keys_and_clients_go_on(cast: Cast) -> None:
    sent = {"oldpassword": PASSWORD, "password1": "another long phrase", "password2": "another long phrase"}
    answer = signed_in().post("/accounts/password/change/", sent, follow=True)
    assert "Keys and clients that act for you go on" in text_of(answer)
    assert not UserSession.objects.exists()


def test_sessions_are_listed_and_ended_one_by_one_or_all_but_this(cast: Cast) -> None:
    first = signed_in(headers={"user-agent": "Elsewhere/1.0"}, REMOTE_ADDR="192.0.2.9")
    second, third, here = signed_in(), signed_in(), signed_in()
    shown = text_of(here.get("/accounts/sessions/"))
    assert ("Elsewhere/1.0" in shown, "192.0.2.9" in shown, "this one" in shown) == (True, True, True)
    of_first = UserSession.objects.get(user_agent="Elsewhere/1.0")
    here.post(f"/sessions/{of_first.pk}/end/")
    assert [is_in(one) for one in (first, second, third, here)] == [False, True, True, True]
    here.post("/accounts/sessions/")
    assert [is_in(one) for one in (second, third, here)] == [False, False, True]


def test_nobody_ends_a_session_of_somebody_else(cast: Cast) -> None:
    theirs, mine = signed_in("admin"), signed_in()
    of_theirs = UserSession.objects.get(user_id=cast.admin.user_id)
    assert mine.post(f"/sessions/{of_theirs.pk}/end/").status_code == 404
    assert is_in(theirs)


def test_who_signed_in_long_ago_shows_who_they_are_before_changing_how_they_sign_in(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        client = signed_in()
        clock.shift(timedelta(minutes=6))
        for page in ("2fa/totp/activate/", "2fa/webauthn/add/", "2fa/recovery-codes/generate/"):
            answer = client.get(f"/accounts/{page}")
            assert (answer.status_code, "reauthenticate" in answer["Location"]) == (302, True)


def test_an_app_is_taken_off_by_who_has_just_shown_who_they_are(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        client = signed_in()
        set_up(client)
        clock.shift(timedelta(minutes=6))
        answer = client.post("/accounts/2fa/totp/deactivate/")
        assert (answer.status_code, "reauthenticate" in answer["Location"]) == (302, True)
        assert Authenticator.objects.filter(type="totp").exists()


def test_too_many_wrong_passwords_from_one_address_are_not_looked_at(cast: Cast) -> None:
    """Counted in the shared cache; an address that a client only claims to have is not another one."""
    client = Client()
    wrong = {"login": "owner@acme.example", "password": "wrong"}
    for number in range(12):
        last = client.post("/accounts/login/", wrong, headers={"x-forwarded-for": f"192.0.2.{number}"})
    right = client.post("/accounts/login/", {**wrong, "password": PASSWORD})
    assert (last.status_code, right.status_code, is_in(client)) in [(200, 200, False), (429, 429, False)]


def test_the_sign_in_page_offers_a_passkey(cast: Cast) -> None:
    shown = text_of(Client().get("/accounts/login/"))
    assert "Sign in with a passkey" in shown
    challenge = Client().get("/accounts/2fa/webauthn/login/", headers={"x-requested-with": "XMLHttpRequest"})
    assert challenge.json()["request_options"]["publicKey"]["rpId"] == "testserver"
