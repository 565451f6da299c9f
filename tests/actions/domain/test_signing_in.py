"""Connecting by signing in: what is kept of it, and what is given back."""

import json
from datetime import timedelta

import pytest
from django.db import connection as database

from accounts.models import Event
from actions.domain.connections import check_connection, connect, list_connections, revoke_connection
from actions.domain.digests import consent_content
from actions.domain.signing_in import come_back, is_from, set_out
from actions.domain.tokens import token_of, tokens_of
from actions.models import Connection
from memoryhub.common.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from tests.actions.stage import approve
from tests.conftest import Cast
from tests.vendors.authorities import GOOGLE, SECRET, Authority
from tests.vendors.faults import BY_NAME
from tests.vendors.server import TOKEN, Vendor
from tests.vendors.stage import agreed, carried_out, prepared, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "authorities")]

ACCOUNTS = {
    "slack": ("T1/U0000BOT", "Acme: memoryhub"),
    "google": ("1098", "hub@acme.example"),
    "github": ("583231", "octocat"),
    "notion": ("bot-1", "Acme"),
}
EVERY = pytest.mark.parametrize("vendor", ACCOUNTS)
CLASS_OF = {
    "slack": "slack.send", "google": "gmail.reply", "github": "github.create_issue", "notion": "notion.create_page",
}  # fmt: skip


@EVERY
def test_who_signed_in_is_connected_as_the_account_that_the_vendor_names(cast: Cast, vendor: str) -> None:
    made = signed_in(cast.owner, vendor)
    assert (made.vendor_ref, made.name) == ACCOUNTS[vendor]
    assert made.signed_in
    assert made.connected_by_id == cast.owner.user_id
    assert [c.id for c in list_connections(cast.viewer)] == [made.id]
    [event] = Event.objects.filter(object_id=made.uid)
    assert (event.type, event.summary) == ("connection.created", "")


@EVERY
def test_tokens_are_sealed_to_their_row_and_nothing_of_the_journey_is_kept(cast: Cast, vendor: str) -> None:
    journey = set_out(vendor)
    code = agreed(journey.url)["code"]
    held = tokens_of(come_back(cast.owner, vendor, code, journey.verifier))
    with database.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public'")
        rows = []
        for (table,) in cursor.fetchall():
            cursor.execute(f'select to_jsonb(t) from "{table}" t')
            rows.append(json.dumps(cursor.fetchall(), default=str))
    for secret in (held.access, held.refresh, code, journey.state, journey.verifier, SECRET):
        assert secret
        assert not any(secret in row for row in rows)


@EVERY
def test_what_was_approved_is_carried_out_with_the_token_of_who_signed_in(
    cast: Cast, vendors: dict[str, Vendor], clock, vendor: str
) -> None:
    made = signed_in(cast.owner, vendor)
    for service in vendors.values():
        service.token = "nothing that was pasted"
    done = carried_out(approve(cast.approver, prepared(cast, CLASS_OF[vendor])), cast, clock)
    assert done.status == "done"
    made.refresh_from_db()
    assert made.used_at is not None


def test_consent_is_pinned_to_the_account_that_was_signed_in(cast: Cast) -> None:
    signed_in(cast.owner, "google")
    action = prepared(cast, "gmail.reply")
    assert b'"connection_account":"google:1098"' in consent_content(action, action.current)


@EVERY
def test_disconnecting_ends_it_here_and_at_the_vendor(
    cast: Cast, authorities: dict[str, Authority], vendor: str
) -> None:
    made = signed_in(cast.owner, vendor)
    held = token_of(made)
    assert revoke_connection(cast.admin, made.uid).at_vendor is True
    assert not authorities[vendor].takes(held)
    assert not authorities[vendor].refreshes
    made.refresh_from_db()
    assert (made.sealed, made.revoked_at is None) == ("", False)


@EVERY
def test_disconnecting_with_a_token_that_is_over_still_ends_it_at_the_vendor(
    cast: Cast, authorities: dict[str, Authority], clock, vendor: str
) -> None:
    made = signed_in(cast.owner, vendor)
    clock.shift(timedelta(days=1))
    assert revoke_connection(cast.admin, made.uid).at_vendor is True
    assert not authorities[vendor].refreshes


@EVERY
def test_what_was_ended_at_the_vendor_already_is_disconnected_without_a_complaint(
    cast: Cast, authorities: dict[str, Authority], clock, vendor: str
) -> None:
    made = signed_in(cast.owner, vendor)
    authorities[vendor].end("by its owner")
    clock.shift(timedelta(days=1))
    assert revoke_connection(cast.admin, made.uid).at_vendor is True


def test_a_vendor_that_is_away_keeps_nobody_from_disconnecting(cast: Cast, settings) -> None:
    made = signed_in(cast.owner, "google")
    settings.VENDOR_URLS = {**settings.VENDOR_URLS, "google_oauth": "http://127.0.0.1:9"}
    assert revoke_connection(cast.owner, made.uid).at_vendor is False
    assert list_connections(cast.owner) == []


def test_a_keyring_that_is_lost_keeps_nobody_from_disconnecting(cast: Cast, settings) -> None:
    made = signed_in(cast.owner, "google")
    settings.KEYRING = ""
    assert revoke_connection(cast.owner, made.uid).at_vendor is False
    assert list_connections(cast.owner) == []


def test_a_pasted_token_is_left_to_who_has_it(cast: Cast, authorities: dict[str, Authority]) -> None:
    made = connect(cast.owner, "github", TOKEN)
    assert revoke_connection(cast.owner, made.uid).at_vendor is None
    assert authorities["github"].ended == []


def test_signing_in_again_to_the_same_account_ends_nothing_there(
    cast: Cast, authorities: dict[str, Authority]
) -> None:
    """For many vendors that would be the end of the new one too."""
    first, second = signed_in(cast.owner, "google"), signed_in(cast.owner, "google")
    assert authorities["google"].ended == []
    assert check_connection(cast.owner, second.uid).trouble == ""
    first.refresh_from_db()
    assert (first.sealed, first.revoked_at is None) == ("", False)


def test_signing_in_to_another_account_ends_the_former_there(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor]
) -> None:
    held = token_of(signed_in(cast.owner, "github"))
    vendors["github"].user = {"id": 1, "login": "hubot"}
    assert signed_in(cast.owner, "github").name == "hubot"
    assert authorities["github"].ended == [held]


def test_what_was_not_allowed_is_known(cast: Cast, authorities: dict[str, Authority]) -> None:
    authorities["google"].allows = {"openid", f"{GOOGLE}userinfo.email", f"{GOOGLE}calendar.events"}
    made = signed_in(cast.owner, "google")
    assert f"{GOOGLE}gmail.send" not in made.scopes
    assert f"{GOOGLE}calendar.events" in made.scopes


def test_who_may_not_tell_whose_account_it_is_is_not_connected_and_the_token_is_given_back(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], monkeypatch
) -> None:
    authorities["google"].allows = {f"{GOOGLE}calendar.events"}
    monkeypatch.setattr(vendors["gmail"], "takes", lambda token: False)
    monkeypatch.setattr(vendors["calendar"], "takes", lambda token: False)
    with pytest.raises(InvalidRequest, match="whose account"):
        signed_in(cast.owner, "google")
    assert len(authorities["google"].ended) == 1
    assert not Connection.objects.exists()


def test_a_failed_second_sign_in_leaves_the_first_alone(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], monkeypatch
) -> None:
    made = signed_in(cast.owner, "github")
    takes = vendors["github"].takes
    monkeypatch.setattr(vendors["github"], "takes", lambda token: False)
    with pytest.raises(InvalidRequest):
        signed_in(cast.owner, "github")
    monkeypatch.setattr(vendors["github"], "takes", takes)
    assert authorities["github"].ended == []
    assert check_connection(cast.owner, made.uid).trouble == ""


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_only_who_manages_the_account_is_connected_and_nobody_elses_code_is_used(
    cast: Cast, authorities: dict[str, Authority], who: str
) -> None:
    with pytest.raises(Forbidden):
        signed_in(getattr(cast, who), "github")
    assert authorities["github"].tried == []


@pytest.mark.parametrize(
    "fault", ["slow", "malformed", "drop after the effect", "500 after the effect", "redirect"]
)
def test_an_answer_that_can_not_be_understood_connects_nothing(
    cast: Cast, authorities: dict[str, Authority], fault: str
) -> None:
    authorities["slack"].faults.append(BY_NAME[fault])
    with pytest.raises(Unavailable, match="not understood"):
        signed_in(cast.owner, "slack")
    assert not Connection.objects.exists()


def test_a_vendor_that_can_not_be_reached_is_told_apart(cast: Cast, settings) -> None:
    journey = set_out("google")
    settings.VENDOR_URLS = {**settings.VENDOR_URLS, "google_oauth": "http://127.0.0.1:9"}
    with pytest.raises(Unavailable, match="can't be reached"):
        come_back(cast.owner, "google", "a code", journey.verifier)


@EVERY
def test_a_code_that_is_used_is_told_so(cast: Cast, vendor: str) -> None:
    journey = set_out(vendor)
    code = agreed(journey.url)["code"]
    come_back(cast.owner, vendor, code, journey.verifier)
    with pytest.raises(InvalidRequest, match="used, or too old"):
        come_back(cast.owner, vendor, code, journey.verifier)


@EVERY
def test_a_wrong_registration_is_told_with_what_to_compare(cast: Cast, settings, vendor: str) -> None:
    journey = set_out(vendor)
    code = agreed(journey.url)["code"]
    settings.VENDOR_CLIENTS = {vendor: ("hub.123", "mistyped")}
    with pytest.raises(InvalidRequest) as refusal:
        come_back(cast.owner, vendor, code, journey.verifier)
    assert f"{vendor.upper()}_CLIENT_SECRET" in refusal.value.message
    assert f"/connections/callback/{vendor}/" in refusal.value.message
    assert "mistyped" not in refusal.value.message


@EVERY
def test_where_this_hub_is_not_registered_nobody_is_sent(settings, vendor: str) -> None:
    for client in (("", ""), ("an id", ""), ("", "a secret")):
        settings.VENDOR_CLIENTS = {vendor: client}
        with pytest.raises(NotFound):
            set_out(vendor)


def test_an_answer_of_another_issuer_is_known() -> None:
    assert is_from("google", "https://accounts.google.com")
    assert is_from("google", "")
    assert is_from("slack", "https://whatever.example")  # which doesn't say what it calls itself
    for other in (
        "https://accounts.google.com/",
        "https://accounts.google.com.evil.example",
        "http://accounts.google.com",
    ):
        assert not is_from("google", other)
    assert not is_from("github", "https://accounts.google.com")


def test_every_journey_has_a_state_and_a_verifier_of_its_own() -> None:
    journeys = [set_out("github") for _ in range(50)]
    assert len({journey.state for journey in journeys}) == 50
    assert len({journey.verifier for journey in journeys}) == 50
    assert all(len(journey.state) >= 43 for journey in journeys)
    assert not any(journey.verifier in journey.url for journey in journeys)
