import json

import pytest
from django.db import connection as database

from accounts.models import Event
from actions.domain.connections import (
    check_connection,
    connect,
    list_connections,
    reseal_connections,
    revoke_connection,
)
from actions.domain.tokens import token_of
from actions.models import Connection
from memoryhub.common.errors import Forbidden, NotFound, Unavailable, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.keyring import KeyringFault, new_entry
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.vendors.server import TOKEN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "vendors")]

VENDORS = {
    "slack": ("T1/U0000BOT", "Acme: memoryhub"),
    "google": ("hub@acme.example", "hub@acme.example"),
    "github": ("583231", "octocat"),
    "notion": ("bot-1", "Acme"),
}


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_pasted_token_is_kept_for_the_account_that_the_vendor_names(cast: Cast, vendor: str) -> None:
    made = connect(cast.owner, vendor, f" {TOKEN}\n")
    assert (made.vendor_ref, made.name) == VENDORS[vendor]
    assert token_of(made) == TOKEN
    assert [c.id for c in list_connections(cast.viewer)] == [made.id]
    [event] = Event.objects.filter(object_id=made.uid)
    assert (event.type, event.summary) == ("connection.created", "")


def test_the_token_is_in_no_row_in_clear(cast: Cast) -> None:
    connect(cast.owner, "github", TOKEN)
    with database.cursor() as cursor:
        cursor.execute("select to_jsonb(c) from actions_connection c")
        rows = json.dumps(cursor.fetchall(), default=str)
    assert TOKEN not in rows
    assert "v1.tests." in rows


def test_a_ciphertext_in_another_row_does_not_open(cast: Cast) -> None:
    github, notion = (connect(cast.owner, vendor, TOKEN) for vendor in ("github", "notion"))
    Connection.objects.filter(id=notion.id).update(sealed=github.sealed)
    notion.refresh_from_db()
    with pytest.raises(KeyringFault):
        token_of(notion)


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_only_who_manages_the_account_connects_and_revokes(cast: Cast, who: str) -> None:
    made = connect(cast.admin, "github", TOKEN)
    actor = getattr(cast, who)
    for attempt in (
        lambda: connect(actor, "github", TOKEN),
        lambda: revoke_connection(actor, made.uid),
        lambda: check_connection(actor, made.uid),
    ):
        with pytest.raises(Forbidden):
            attempt()


def test_another_accounts_connection_is_absent(cast: Cast) -> None:
    made = connect(cast.owner, "github", TOKEN)
    for id in (made.uid, typed_id("con", new_id()), "con_"):
        with tenant(cast.outsider_person.account_id), pytest.raises(NotFound):
            revoke_connection(cast.outsider_person, id)


@pytest.mark.parametrize("token", ["", "  ", "wrong", "a b\nc", "ä", "x" * 4097])
def test_a_token_that_the_vendor_does_not_take_is_not_kept(cast: Cast, token: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        connect(cast.owner, "slack", token)
    assert list(refusal.value.fields) == ["token"]
    assert not Connection.objects.exists()


def test_a_vendor_that_can_not_be_reached_is_told_apart_from_a_wrong_token(cast: Cast, settings) -> None:
    settings.VENDOR_URLS = {**settings.VENDOR_URLS, "github": "http://127.0.0.1:9"}
    with pytest.raises(Unavailable):
        connect(cast.owner, "github", TOKEN)


def test_without_a_keyring_nothing_is_connected(cast: Cast, settings) -> None:
    settings.KEYRING = ""
    with pytest.raises(KeyringFault):
        connect(cast.owner, "github", TOKEN)
    assert not Connection.objects.exists()


def test_a_new_connection_takes_the_place_of_the_former(cast: Cast) -> None:
    first = connect(cast.owner, "github", TOKEN)
    second = connect(cast.owner, "github", TOKEN)
    assert [c.id for c in list_connections(cast.owner)] == [second.id]
    first.refresh_from_db()
    assert (first.sealed, first.revoked_at is None) == ("", False)


def test_health_is_asked_for_and_told(cast: Cast, vendors) -> None:
    made = connect(cast.owner, "github", TOKEN)
    assert check_connection(cast.owner, made.uid).trouble == ""
    vendors["github"].token = "another"
    assert check_connection(cast.owner, made.uid).trouble == "signed out"


def test_a_rotation_seals_everything_under_the_new_key(cast: Cast, settings) -> None:
    made = connect(cast.owner, "github", TOKEN)
    old, settings.KEYRING = settings.KEYRING, f"{new_entry()},{settings.KEYRING}"
    assert reseal_connections(cast.account.id) == 1
    assert reseal_connections(cast.account.id) == 0
    settings.KEYRING = settings.KEYRING.removesuffix(f",{old}")
    made.refresh_from_db()
    assert token_of(made) == TOKEN
