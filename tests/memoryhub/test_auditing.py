"""`memoryhub audit`, on the database of the tests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import memoryhub.auditing
from accounts.domain.events import seal_events
from accounts.models import Event
from memoryhub.cli import cli
from memoryhub.common.signing import key_id, new_signing_key, public_key
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.database import become_app, become_owner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """The commands find this instance: its environment is that of the tests already."""

    @contextmanager
    def opened(data_dir: Path | None) -> Iterator[None]:
        yield

    monkeypatch.setattr(memoryhub.auditing, "open_instance", opened)
    settings.AUDIT_KEY, settings.AUDIT_DIR = new_signing_key(), str(tmp_path / "audit")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *words], catch_exceptions=False)


def sealed(cast: Cast) -> int:
    for account in (cast.account.id, cast.outsider.account_id):
        with tenant(account):
            seal_events(account)
    with tenant(cast.account.id):
        return Event.objects.sealed().count()


def as_owner(statement: str, *values: object) -> None:
    from django.db import connection

    become_owner()
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    become_app()


def test_whole_chains_are_told_with_their_checkpoints(cast: Cast) -> None:
    events = sealed(cast)
    assert run("checkpoint").exit_code == 0
    told = run("verify")
    assert (told.exit_code, told.output.splitlines()[0]) == (
        0,
        f"acme: whole. {events} events, 1 signed checkpoints agree.",
    )
    answer = json.loads(run("verify", "--account", "acme", "--json").output)
    assert answer == {
        "accounts": [{"account": "acme", "verified": events, "checkpoints": 1, "unsealed": 0, "fault": None}]
    }


def test_a_changed_event_is_named_and_the_command_fails(cast: Cast) -> None:
    sealed(cast)
    as_owner("update accounts_event set summary = 'x' where account_id = %s and seq = 2", cast.account.id)
    told = run("verify")
    assert told.exit_code == 1
    assert told.output.startswith("acme: BROKEN. Event 2 is not what was sealed.")
    assert "globex: whole" in told.output


def test_an_account_that_is_gone_with_its_events_is_missed(cast: Cast) -> None:
    sealed(cast)
    run("checkpoint")
    as_owner("truncate accounts_account cascade")
    told = run("verify", "--json")
    assert told.exit_code == 1
    assert {one["account"] for one in json.loads(told.output)["accounts"]} == {
        str(cast.account.id),
        str(cast.outsider.account_id),
    }


def test_the_public_key_is_told(settings: Any) -> None:
    public = public_key(settings.AUDIT_KEY)
    assert run("key").output.splitlines() == [public, f"Its fingerprint: {key_id(public)}"]
