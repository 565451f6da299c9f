"""Many people and many workers at once: one decision, and at most one call."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from actions.domain.actions import access_action
from actions.domain.connections import list_connections
from actions.domain.execution import work_off
from actions.domain.transitions import approve_action, reject_action
from actions.models import Attempt
from memoryhub.common.tenancy import tenant
from tests.actions.domain.test_concurrency import all_at_once, in_account
from tests.actions.stage import approve, digest_of, propose
from tests.conftest import Cast
from tests.vendors.server import Vendor
from tests.vendors.stage import PAYLOADS, connected

pytestmark = pytest.mark.django_db(transaction=True)

ISSUE = "github.create_issue"


def decided_by_a_crowd(cast: Cast, vendor: Vendor, *, clients: int, rounds: int) -> Counter[str]:
    won: Counter[str] = Counter()
    with tenant(cast.account.id):
        connected(cast.owner, ISSUE)
    for n in range(rounds):
        with tenant(cast.account.id):
            action = propose(
                cast.agent, class_name=ISSUE, payload={**PAYLOADS[ISSUE], "title": str(n)}
            ).action
        shown = digest_of(action)
        calls = [
            in_account(cast, lambda: approve_action(cast.owner, action.uid, digest=shown)),  # noqa: B023
            in_account(cast, lambda: reject_action(cast.approver, action.uid)),  # noqa: B023
            in_account(cast, lambda: approve_action(cast.approver, action.uid, digest=shown)),  # noqa: B023
        ]
        came = all_at_once([calls[i % len(calls)] for i in range(clients)])
        [winner] = set(came) - {"conflict"}
        assert came == {winner: 1, "conflict": clients - 1}
        won[winner] += 1
        work_off()
        with tenant(cast.account.id):
            ended = access_action(cast.owner, action.uid).status
        assert ended == {"approved": "done", "rejected": "rejected"}[winner]
    made = Counter(issue["title"] for issue in vendor.made)
    assert (len(made), sum(made.values())) == (won["approved"], won["approved"])
    return won


def test_of_a_crowd_that_decides_one_wins_and_it_is_sent_once_at_most(
    cast: Cast, vendors: dict[str, Vendor], settings: Any
) -> None:
    settings.UNDO_SECONDS = 0
    print(decided_by_a_crowd(cast, vendors["github"], clients=12, rounds=6))


@pytest.mark.slow
def test_50_clients_decide_200_times(cast: Cast, vendors: dict[str, Vendor], settings: Any) -> None:
    settings.UNDO_SECONDS = 0
    won = decided_by_a_crowd(cast, vendors["github"], clients=50, rounds=200)
    print(f"50 clients, 200 rounds: one winner each, {won}; one call for each approval")


def test_of_many_workers_one_carries_each_action_out(
    cast: Cast, vendors: dict[str, Vendor], settings: Any
) -> None:
    settings.UNDO_SECONDS, settings.VENDOR_SECONDS = 0, 10
    with tenant(cast.account.id):
        connected(cast.owner, ISSUE)
        for n in range(24):
            payload = {**PAYLOADS[ISSUE], "title": str(n)}
            approve(cast.owner, propose(cast.agent, class_name=ISSUE, payload=payload).action)

    def worker(_: int) -> int:
        try:
            return work_off()
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(worker, range(6)))
    assert sum(done) == 24
    assert Counter(issue["title"] for issue in vendors["github"].made) == {str(n): 1 for n in range(24)}
    with tenant(cast.account.id):
        assert set(Attempt.objects.values_list("outcome", "number")) == {("sent", 1)}


def test_of_many_who_connect_a_vendor_at_once_each_is_served_and_one_connection_stands(
    cast: Cast, vendors: dict[str, Vendor]
) -> None:
    came = all_at_once([lambda: connected(cast.owner, ISSUE).vendor] * 6)
    assert came == {"github": 6}
    with tenant(cast.account.id):
        assert len(list_connections(cast.owner)) == 1
