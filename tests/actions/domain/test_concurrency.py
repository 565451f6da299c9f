"""Many callers at once: one wins, and what they leave behind is consistent."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from accounts.models import Event
from actions.domain.sweeps import expire_action
from actions.domain.transitions import approve_action, reject_action, transition_action
from actions.models import Action, Approval
from memoryhub.common.errors import HubError
from memoryhub.common.tenancy import tenant
from memoryhub.operations.hub.actions import action_propose
from spaces.models import Space
from tests.actions.stage import approve, digest_of, proposed
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 20


def all_at_once(calls: list[Callable[[], str]]) -> Counter[str]:
    """Each call in a thread and a connection of its own, let go together; what came of them, counted."""
    start = Barrier(len(calls), timeout=60)

    def one(call: Callable[[], str]) -> str:
        try:
            with connection.cursor() as cursor:
                cursor.execute("select 1")
            start.wait()
            return call()
        except HubError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return Counter(pool.map(one, calls))


def in_account(cast: Cast, act: Callable[[], Any]) -> Callable[[], str]:
    def call() -> str:
        with tenant(cast.account.id):
            return str(act().status)

    return call


def new(cast: Cast, **fields: Any) -> Action:
    with tenant(cast.account.id):
        return proposed(cast, **fields)


def events_of(cast: Cast, action: Action) -> list[str]:
    with tenant(cast.account.id):
        return list(Event.objects.filter(object_id=action.uid).order_by("id").values_list("type", flat=True))


@pytest.mark.parametrize("callers", [CALLERS, 50])
def test_of_many_who_approve_at_once_one_does(cast: Cast, callers: int) -> None:
    action = new(cast)
    digest = digest_of(action)
    people = [cast.owner, cast.approver]
    calls = [
        in_account(cast, lambda p=people[n % 2]: approve_action(p, action.uid, digest=digest))
        for n in range(callers)
    ]
    assert all_at_once(calls) == {"approved": 1, "conflict": callers - 1}
    assert events_of(cast, action) == ["action.proposed", "action.approved"]
    with tenant(cast.account.id):
        assert Approval.objects.count() == 1


def test_approving_rejecting_and_cancelling_at_once_have_one_outcome(cast: Cast) -> None:
    action = new(cast)
    digest = digest_of(action)
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("approved", lambda: approve_action(cast.owner, action.uid, digest=digest)),
        ("rejected", lambda: reject_action(cast.approver, action.uid)),
        ("cancelled", lambda: transition_action(cast.agent, action.uid, "pending", "cancelled")),
    ]
    outcomes = all_at_once([in_account(cast, kinds[n % 3][1]) for n in range(21)])
    [winner] = outcomes.keys() - {"conflict"}
    assert outcomes == {winner: 1, "conflict": 20}
    assert events_of(cast, action) == ["action.proposed", f"action.{winner}"]
    with tenant(cast.account.id):
        assert Action.objects.get().status == winner


def test_of_many_agents_who_claim_at_once_one_carries_it_out(cast: Cast) -> None:
    action = new(cast)
    keys = [cast.agent, make_key(cast.teammate, cast.space)[0], make_key(cast.owner, cast.space)[0]]
    with tenant(cast.account.id):
        approve(cast.owner, action)
    claims = [
        in_account(cast, lambda k=keys[n % 3]: transition_action(k, action.uid, "approved", "executing"))
        for n in range(CALLERS)
    ]
    assert all_at_once(claims) == {"executing": 1, "conflict": CALLERS - 1}
    assert events_of(cast, action)[2:] == ["action.executing"]


def test_many_first_calls_with_one_key_make_one_action_and_take_one_number(cast: Cast) -> None:
    def call() -> str:
        answer = action_propose(
            cast.agent,
            {"class": "chat.send", "summary": "s", "payload": {"n": 1}, "idempotency_key": "K"},
        )
        return f"{answer['action']['id']} {answer['created']}"

    assert all_at_once([call] * CALLERS) == {"A1 True": 1, "A1 False": CALLERS - 1}
    with tenant(cast.account.id):
        assert (Action.objects.count(), Space.objects.get().next_action) == (1, 2)


def test_many_proposals_at_once_get_each_number_once(cast: Cast) -> None:
    def call(number: int) -> str:
        key = [cast.agent, cast.key(key_id=cast.agent.user_id)][number % 2]
        fields = {"summary": "s", "payload": {"n": number}, "idempotency_key": f"k{number}"}
        return str(action_propose(key, {"class": "chat.send", **fields})["action"]["id"])

    numbers = all_at_once([lambda n=n: call(n) for n in range(CALLERS)])
    assert numbers == {f"A{n}": 1 for n in range(1, CALLERS + 1)}
    with tenant(cast.account.id):
        assert Space.objects.get().inbox_version == CALLERS


def test_proposing_deciding_and_sweeping_at_once_never_deadlock(cast: Cast) -> None:
    """Each takes an action's row first and then the space's, if both."""
    waiting = [new(cast) for _ in range(6)]
    past = [new(cast) for _ in range(6)]
    with tenant(cast.account.id):
        Action.objects.filter(id__in=[a.id for a in past]).update(expires_at=past[0].created_at)

    def call(number: int) -> str:
        match number % 3:
            case 0:
                return in_account(cast, lambda: proposed(cast))()
            case 1:
                return in_account(cast, lambda: approve(cast.owner, waiting[number % 6]))()
            case _:
                with tenant(cast.account.id):
                    return f"swept {expire_action(cast.account.id, past[number % 6].id)}"

    outcomes = all_at_once([lambda n=n: call(n) for n in range(24)])
    assert outcomes == {"pending": 8, "approved": 2, "conflict": 6, "swept True": 2, "swept False": 6}


def test_the_sweep_and_a_decision_at_the_same_moment_have_one_outcome(cast: Cast) -> None:
    action = new(cast)
    with tenant(cast.account.id):
        Action.objects.update(expires_at=action.created_at)

    def sweep() -> str:
        with tenant(cast.account.id):
            return f"swept {expire_action(cast.account.id, action.id)}"

    digest = digest_of(action)
    decide = in_account(cast, lambda: approve_action(cast.owner, action.uid, digest=digest))
    assert all_at_once([sweep, decide] * 10) == {"swept True": 1, "swept False": 9, "conflict": 10}
