"""Renewing tokens: one call for however many ask, in whatever processes, and what comes of a refusal."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import Job
from actions.connectors.answers import NotSent, SignedOut
from actions.connectors.identity import identify
from actions.domain import tokens as tokens_module
from actions.domain.connections import (
    check_connection,
    list_connections,
    reseal_connections,
    revoke_connection,
    tend_connection,
)
from actions.domain.execution import work_off
from actions.domain.tokens import current_token, is_due, renewed_token, token_of, tokens_of, with_token
from actions.models import Attempt, Connection
from memoryhub.common.errors import NotConnected
from memoryhub.common.keyring import new_entry
from memoryhub.common.tenancy import tenant
from memoryhub.running import lifeline
from tests.actions.domain.test_concurrency import all_at_once
from tests.actions.stage import DAY, HOUR, approve
from tests.conftest import Cast
from tests.live import environment_of, held_lifeline
from tests.vendors.authorities import CLIENT, SECRET, Authority
from tests.vendors.faults import FAULTS, Fault
from tests.vendors.server import Vendor
from tests.vendors.stage import carried_out, now, outcomes, prepared, signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("authorities")]

ISSUE = "github.create_issue"
ROTATING = pytest.mark.parametrize("vendor", ["slack", "github", "notion", "google"])


def stored(connection: Connection) -> Connection:
    with tenant(connection.account_id):
        return Connection.objects.get(account_id=connection.account_id, id=connection.id)


def due(cast: Cast, vendor: str = "github") -> Connection:
    """One whose access token is over in a minute."""
    made = signed_in(cast.owner, vendor)
    with tenant(cast.account.id):
        Connection.objects.filter(id=made.id).update(expires_at=timezone.now() + timedelta(minutes=1))
    return stored(made)


def renewals(authority: Authority) -> int:
    return sum(sent.get("grant_type") == "refresh_token" for sent in authority.tried)


@ROTATING
def test_twenty_who_ask_at_once_make_one_call(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], settings, vendor: str
) -> None:
    settings.VENDOR_SECONDS = 10
    connection = due(cast, vendor)
    slow_token_service(vendors, vendor)
    came = all_at_once([lambda: current_token(connection)] * 20)
    assert list(came.values()) == [20]
    assert renewals(authorities[vendor]) == 1
    assert list(came) == [token_of(stored(connection))]
    assert identify(vendor, token_of(stored(connection))).ref == connection.vendor_ref


def slow_token_service(vendors: dict[str, Vendor], vendor: str, seconds: float = 0.2) -> None:
    service = {"google": "google_oauth", "github": "github_web"}.get(vendor, vendor)
    vendors[service].seconds = seconds


def test_twenty_in_four_processes_make_one_call(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], settings
) -> None:
    connection = due(cast)
    slow_token_service(vendors, "github")
    environment = environment_of("http://localhost") | {
        **{f"{name.upper()}_URL": url for name, url in settings.VENDOR_URLS.items()},
        "GITHUB_CLIENT_ID": CLIENT,
        "GITHUB_CLIENT_SECRET": SECRET,
    }
    command = [sys.executable, "-m", "tests.vendors.renewer", str(cast.account.id), str(connection.id), "5"]
    with held_lifeline() as line:
        environment[lifeline.VARIABLE] = str(line)
        processes = [
            subprocess.Popen(
                command,
                env=environment,
                pass_fds=[line],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        ready = [process.stdout.readline() for process in processes if process.stdout]
        assert ready == ["ready\n"] * 4
        got = [process.communicate("go\n", timeout=60)[0] for process in processes]
    came = [token for line_ in got for token in json.loads(line_)]
    print(
        f"{len(came)} asked in {len(processes)} processes: {renewals(authorities['github'])} call to the vendor"
    )
    assert set(came) == {token_of(stored(connection))}
    assert (len(came), renewals(authorities["github"])) == (20, 1)


def test_of_twenty_none_asks_again_when_the_one_call_fails(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], settings
) -> None:
    settings.VENDOR_SECONDS = 10
    connection = due(cast)
    slow_token_service(vendors, "github", seconds=1)
    authorities["github"].says.append((503, {}))
    came = all_at_once([lambda: refused(lambda: current_token(connection))] * 20)
    assert came == {"NotSent": 20}
    assert renewals(authorities["github"]) == 1
    assert "not renewed" in stored(connection).trouble
    assert current_token(connection)  # and the next one who needs it asks again


def refused(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except (NotSent, SignedOut) as trouble:
        return type(trouble).__name__
    return "not refused"


def test_no_connection_to_the_database_is_held_while_the_vendor_thinks(
    cast: Cast, authorities: dict[str, Authority], monkeypatch
) -> None:
    connection = due(cast)
    asking: list[Any] = []
    held: list[bool] = []
    give = authorities["github"].give

    def looked_at(asked: Any) -> Any:
        held.append(any(one.connection is not None for one in asking))
        return give(asked)

    def ask() -> str:
        asking.append(connections["default"])
        assert connections["default"].connection is not None
        return current_token(connection)

    monkeypatch.setattr(authorities["github"], "give", looked_at)
    assert all_at_once([ask]).total() == 1
    assert held == [False]


@pytest.mark.parametrize("minutes", [-60, 0, 1, 3, 60])
def test_it_is_renewed_a_little_before_its_end(
    cast: Cast, authorities: dict[str, Authority], minutes: int
) -> None:
    connection = signed_in(cast.owner, "github")
    connection.expires_at = timezone.now() + timedelta(minutes=minutes)
    assert is_due(connection) is (minutes < 2)


def test_a_token_without_an_end_is_renewed_when_it_is_not_taken(
    cast: Cast, authorities: dict[str, Authority]
) -> None:
    """Notion's have none, and still there is a refresh token."""
    connection = signed_in(cast.owner, "notion")
    assert connection.expires_at is None
    authorities["notion"].expire()
    whose = with_token(connection, lambda token: identify("notion", token))
    assert whose.ref == connection.vendor_ref
    assert renewals(authorities["notion"]) == 1


def test_where_refresh_tokens_stay_the_same_it_is_kept(cast: Cast, authorities: dict[str, Authority]) -> None:
    connection = due(cast, "google")
    before = tokens_of(connection)
    current_token(connection)
    after = tokens_of(stored(connection))
    assert after.refresh == before.refresh
    assert after.access != before.access
    assert stored(connection).generation == 1


def test_a_long_row_of_rotating_renewals_never_loses_the_thread(
    cast: Cast, authorities: dict[str, Authority]
) -> None:
    connection = signed_in(cast.owner, "slack")
    for turn in range(1, 13):
        renewed_token(stored(connection))
        assert stored(connection).generation == turn
    assert identify("slack", token_of(stored(connection))).ref == connection.vendor_ref


@ROTATING
def test_a_refresh_token_that_is_over_breaks_the_connection_for_all_to_see(
    cast: Cast, authorities: dict[str, Authority], vendor: str
) -> None:
    connection = due(cast, vendor)
    authorities[vendor].refreshes.clear()
    with pytest.raises(SignedOut):
        current_token(connection)
    with tenant(cast.account.id):
        [shown] = list_connections(cast.viewer)
    assert (shown.broken, shown.trouble) == (True, "signed out")
    with pytest.raises(SignedOut):
        current_token(connection)
    assert renewals(authorities[vendor]) == 1


@pytest.mark.parametrize(
    "fault", [f for f in FAULTS if f.answer not in (401, 302)], ids=lambda fault: fault.name
)
def test_a_fault_on_the_way_breaks_nothing(
    cast: Cast, authorities: dict[str, Authority], fault: Fault
) -> None:
    """Where the vendor did renew it, and it rotates, nobody has the new one: only that is the end."""
    connection = due(cast, "google")
    authorities["google"].faults.append(fault)
    with pytest.raises(NotSent):
        current_token(connection)
    assert not stored(connection).broken
    assert current_token(connection)
    assert stored(connection).trouble == ""


@pytest.mark.parametrize("setting", ["another secret", ""])
def test_a_wrong_registration_breaks_nothing_either(
    cast: Cast, authorities: dict[str, Authority], settings, setting: str
) -> None:
    connection = due(cast)
    right = settings.VENDOR_CLIENTS
    settings.VENDOR_CLIENTS = {**right, "github": (CLIENT, setting)}
    with pytest.raises(NotSent):
        current_token(connection)
    assert stored(connection).trouble in ("not renewed: client not accepted", "not renewed: not configured")
    settings.VENDOR_CLIENTS = right
    assert current_token(connection)
    assert stored(connection).trouble == ""


def test_who_died_while_renewing_is_followed_by_another_after_a_while(
    cast: Cast, authorities: dict[str, Authority], monkeypatch
) -> None:
    connection = due(cast)
    with tenant(cast.account.id):
        Connection.objects.filter(id=connection.id).update(
            renewing_until=timezone.now() + timedelta(seconds=0.5)
        )
    assert current_token(connection)
    assert renewals(authorities["github"]) == 1


def test_who_disconnects_meanwhile_ends_the_new_tokens_too(
    cast: Cast, authorities: dict[str, Authority], monkeypatch
) -> None:
    connection = due(cast)
    renew = tokens_module.signing_in.renew

    def renewed_too_late(vendor: str, refresh: str) -> Any:
        monkeypatch.setattr(tokens_module.signing_in, "renew", renew)
        renewed = renew(vendor, refresh)
        with tenant(cast.account.id):
            Connection.objects.filter(id=connection.id).update(revoked_at=timezone.now(), sealed="")
        return renewed

    monkeypatch.setattr(tokens_module.signing_in, "renew", renewed_too_late)
    with pytest.raises(SignedOut):
        current_token(connection)
    assert authorities["github"].access == {}
    assert stored(connection).sealed == ""


def test_a_new_keyring_and_a_renewal_do_not_undo_each_other(
    cast: Cast, authorities: dict[str, Authority], settings
) -> None:
    connection = due(cast)
    old, settings.KEYRING = settings.KEYRING, f"{new_entry()},{settings.KEYRING}"
    assert reseal_connections(cast.account.id) == 1
    renewed = current_token(connection)
    settings.KEYRING = settings.KEYRING.removesuffix(f",{old}")
    assert token_of(stored(connection)) == renewed


# What it means for actions.


def issue(cast: Cast) -> Any:
    with tenant(cast.account.id):
        return approve(cast.approver, prepared(cast, ISSUE))


def ended(action: Any, cast: Cast, clock: Any) -> Any:
    with tenant(cast.account.id):
        return carried_out(action, cast, clock)


def test_an_action_is_sent_with_a_token_that_was_renewed_just_before(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    action = issue(cast)
    clock.shift(9 * HOUR)
    assert ended(action, cast, clock).status == "done"
    assert renewals(authorities["github"]) == 1
    assert len(vendors["github"].made) == 1


def test_an_action_whose_token_is_not_taken_is_sent_after_one_renewal(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    action = issue(cast)
    authorities["github"].expire()
    done = ended(action, cast, clock)
    assert done.status == "done"
    with tenant(cast.account.id):
        assert outcomes(done) == ["sent"]
    assert renewals(authorities["github"]) == 1
    assert len(vendors["github"].made) == 1


def test_a_token_that_is_never_taken_is_renewed_once_and_the_action_fails_unsent(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock, monkeypatch
) -> None:
    signed_in(cast.owner, "github")
    action = issue(cast)
    monkeypatch.setattr(vendors["github"], "takes", lambda token: False)
    failed = ended(action, cast, clock)
    assert (failed.status, failed.reason) == ("failed", "The vendor does not accept the connection.")
    assert renewals(authorities["github"]) == 1
    assert vendors["github"].made == []


def test_an_action_waits_while_the_token_can_not_be_renewed(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    action = issue(cast)
    authorities["github"].expire()
    authorities["github"].says.extend([(503, {}), (429, {})])
    done = ended(action, cast, clock)
    assert done.status == "done"
    with tenant(cast.account.id):
        assert outcomes(done) == ["not_sent", "not_sent", "sent"]
    assert len(vendors["github"].made) == 1


def test_with_a_broken_connection_nothing_is_approved_and_what_was_fails_unsent(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    approved = issue(cast)
    with tenant(cast.account.id):
        waiting = prepared(cast, ISSUE)
    authorities["github"].expire()
    authorities["github"].refreshes.clear()
    assert ended(approved, cast, clock).status == "failed"
    with tenant(cast.account.id), pytest.raises(NotConnected, match="Connect it anew") as refusal:
        approve(cast.approver, now(waiting, cast))
    assert str(refusal.value.details["connect_url"]).endswith("/a/acme/connections/")
    assert vendors["github"].made == []


def test_what_waits_goes_on_once_somebody_has_signed_in_again(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    with tenant(cast.account.id):
        waiting = prepared(cast, ISSUE)
        Connection.objects.update(broken=True)
    signed_in(cast.owner, "github")
    work_off()
    with tenant(cast.account.id):
        approved = approve(cast.approver, now(waiting, cast))
    assert ended(approved, cast, clock).status == "done"


def test_each_attempt_of_a_refused_token_is_told_as_not_sent(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor], clock
) -> None:
    signed_in(cast.owner, "github")
    action = issue(cast)
    authorities["github"].expire()
    authorities["github"].refreshes.clear()
    failed = ended(action, cast, clock)
    with tenant(cast.account.id):
        assert list(Attempt.objects.filter(action=failed).values_list("outcome", "reason")) == [
            ("not_sent", "signed out")
        ]


# Once a day.


def test_a_connection_is_looked_at_once_a_day_and_renewed(
    cast: Cast, authorities: dict[str, Authority], clock
) -> None:
    connection = signed_in(cast.owner, "google")
    assert work_off() == 0
    for day in range(1, 4):
        clock.shift(DAY)
        assert work_off() == 1
        assert renewals(authorities["google"]) == day
    assert stored(connection).checked_at > connection.checked_at
    with tenant(cast.account.id):
        revoke_connection(cast.owner, connection.uid)
    clock.shift(DAY)
    work_off()
    assert not Job.objects.filter(object_id=connection.id).exists()


def test_what_is_wrong_is_seen_without_anybody_asking(cast: Cast, authorities: dict[str, Authority]) -> None:
    connection = signed_in(cast.owner, "google")
    authorities["google"].expire()
    authorities["google"].refreshes.clear()
    assert tend_connection(cast.account.id, connection.id) is not None
    assert stored(connection).broken
    assert tend_connection(cast.account.id, connection.id) is None


def test_health_is_asked_with_a_token_that_is_renewed_first(
    cast: Cast, authorities: dict[str, Authority]
) -> None:
    connection = due(cast)
    with tenant(cast.account.id):
        assert check_connection(cast.owner, connection.uid).trouble == ""
    assert renewals(authorities["github"]) == 1


def test_another_account_behind_the_same_connection_is_trouble(
    cast: Cast, authorities: dict[str, Authority], vendors: dict[str, Vendor]
) -> None:
    connection = signed_in(cast.owner, "github")
    vendors["github"].user = {"id": 1, "login": "hubot"}
    with tenant(cast.account.id):
        assert check_connection(cast.owner, connection.uid).trouble == "another account"
