"""Random lives of actions, against a model that knows the rules and nothing of the code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any, TypeVar

import pytest
from django.db import transaction
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from accounts.actor import Actor
from accounts.models import Event
from actions.domain.actions import access_action, list_actions
from actions.domain.digests import consent_digest
from actions.domain.editing import edit_action
from actions.domain.inbox import count_inbox
from actions.domain.policies.rules import Draft, create_policy
from actions.domain.proposals import propose_action
from actions.domain.snoozing import snooze_action
from actions.domain.sweeps import expire_action
from actions.domain.transitions import transition_action
from actions.models import Action, Approval
from memoryhub.common.errors import HubError
from spaces.domain.spaces import create_space
from tests.actions.conftest import NOW
from tests.conftest import Cast, make_key

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

ends = {"rejected", "done", "failed", "expired", "cancelled"}
pairs = {
    ("pending", "approved"), ("pending", "rejected"), ("pending", "expired"), ("pending", "cancelled"),
    ("approved", "executing"), ("approved", "failed"), ("approved", "expired"), ("approved", "cancelled"),
    ("executing", "done"), ("executing", "failed"),
}  # fmt: skip
WAYS = {
    "pending": ["approved", "approved", "approved", "rejected", "cancelled", "expired"],
    "approved": ["executing", "executing", "executing", "cancelled", "failed", "expired"],
    "executing": ["done", "failed"],
}
statuses = sorted(ends | {"pending", "approved", "executing"})
spaces = count(1)
T = TypeVar("T")


@dataclass
class Expected:
    """What the model holds of one action. `moved` counts its events, `agreed` are those who approved what stands."""

    number: int
    key: str
    payload: dict[str, int]
    proposer: str
    expires_at: datetime
    status: str = "pending"
    claimer: str = ""
    moved: int = 1
    decisions: int = 0
    receipt: Any = None
    uid: str = ""
    ever: list[str] = field(default_factory=list)
    agreed: set[str] = field(default_factory=set)
    edited: dict[str, int] = field(default_factory=dict)
    revision: int = 1
    snoozed_until: datetime | None = None


@dataclass(frozen=True)
class Step:
    """`right`: with the digest that was shown. `crash`: the transaction is lost after the move."""

    which: int
    who: int
    way: int
    fits: bool
    right: bool
    crash: bool


callers = ["one", "two", "owner", "approver", "member", "viewer"]
small = st.integers(0, 11)
seldom = small.map(lambda n: n == 7)
mostly = small.map(lambda n: n % 3 != 1)
steps = st.builds(Step, small, small, small, mostly, mostly, seldom)


class Crash(Exception):
    pass


def attempt(act: Callable[[], T]) -> tuple[str, T | None]:
    """What it was refused with ("" for nothing), and what it answered."""
    try:
        return "", act()
    except HubError as refusal:
        return refusal.code, None
    except Crash:
        return "crash", None


class Lives(RuleBasedStateMachine):
    actions = Bundle("actions")

    def __init__(self, cast: Cast, clock: Any) -> None:
        super().__init__()
        self.clock, self.now = clock, NOW
        clock.move_to(NOW)
        self.space = create_space(cast.owner, name=f"Space {next(spaces)}")
        one, two = (make_key(cast.teammate, self.space)[0] for _ in range(2))
        people = {
            "owner": cast.owner,
            "approver": cast.approver,
            "member": cast.teammate,
            "viewer": cast.viewer,
        }
        self.who: dict[str, Actor] = {"one": one, "two": two} | {
            name: person.in_space(self.space.slug) for name, person in people.items()
        }
        self.held: list[Expected] = []
        self.people = 1

    def status(self, held: Expected) -> str:
        late = held.status in ("pending", "approved") and held.expires_at <= self.now
        return "expired" if late else held.status

    @initialize(
        target=actions,
        proposers=st.lists(st.sampled_from(["one", "owner", "approver"]), min_size=3, max_size=3),
        people=st.sampled_from([1, 1, 2]),
    )
    def begin(self, proposers: list[str], people: int) -> Any:
        self.people = people
        if people > 1:
            create_policy(self.who["owner"], Draft("Two", "require", approvals=people))
        return multiple(*(self.propose_new(who, f"first {n}") for n, who in enumerate(proposers)))

    def propose_new(self, who: str, key: str) -> Expected:
        made = self.propose(who, key, 0, 7200)
        assert isinstance(made, Expected)
        return made

    @rule(
        target=actions,
        who=st.sampled_from(["one", "two", "owner", "viewer"]),
        key=st.sampled_from("abcdefgh"),
        n=st.integers(0, 1),
        life=st.sampled_from([-1, 0, 1, 5, 60, 7200]),
    )
    def propose_any(self, who: str, key: str, n: int, life: int) -> Any:
        return self.propose(who, key, n, life) or multiple()

    def propose(self, who: str, key: str, n: int, life: int) -> Expected | None:
        same = next((h for h in self.held if h.key == key), None)
        expires_at = self.now + timedelta(seconds=life)
        fields = {"payload": {"n": n}, "idempotency_key": key, "expires_at": expires_at.isoformat()}
        code, made = attempt(lambda: propose_action(self.who[who], class_name="a", summary="s", **fields))
        assert code == self.outcome_of_proposal(who, same, n, life)
        if made is None:
            return None
        assert made.created is (same is None)
        if same is None:
            same = Expected(len(self.held) + 1, key, {"n": n}, who, expires_at, uid=made.action.uid)
            self.held.append(same)
        assert (made.action.number, made.action.uid) == (same.number, same.uid)
        return same

    def outcome_of_proposal(self, who: str, same: Expected | None, n: int, life: int) -> str:
        if who == "viewer":
            return "forbidden"
        if same:
            return "" if same.payload == {"n": n} else "idempotency_conflict"
        return "" if life > 0 else "validation_failed"

    def may(self, who: str, held: Expected, to: str) -> bool:
        decides = who in ("owner", "approver")
        if to in ("approved", "rejected"):
            return decides and held.proposer != who
        if to == "cancelled":
            return decides or held.proposer == who
        if to == "executing":
            return who in ("one", "two")
        if to == "done":
            return who in ("one", "two")
        return who in ("one", "two") or decides if to == "failed" else False

    def outcome(self, who: str, held: Expected, start: str, to: str, digest_is_right: bool) -> str:
        """The code of the refusal, or "" for a move that is made."""
        if (start, to) not in pairs:
            return "invalid_transition"
        if (start, to) == ("approved", "failed") or not self.may(who, held, to):
            return "forbidden"
        if self.status(held) != start:
            return "conflict"
        if to == "approved" and (not digest_is_right or who in held.agreed):
            return "conflict"
        if (
            start == "executing"
            and who != held.claimer
            and not (to == "failed" and who in ("owner", "approver"))
        ):
            return "forbidden"
        return ""

    @rule(steps=st.lists(steps, min_size=8, max_size=16))
    def live(self, steps: list["Step"]) -> None:
        """Moves that there are, mostly by somebody who may make them, by callers who know where it stands."""
        for step in steps:
            going = [h for h in self.held if self.status(h) not in ends]
            if not going:
                return
            held = going[step.which % len(going)]
            start = self.status(held)
            to = WAYS[start][step.way % len(WAYS[start])]
            fitting = [w for w in callers if not self.outcome(w, held, start, to, True)]
            among = fitting if fitting and step.fits else callers
            self.move(held, among[step.who % len(among)], start, to, step.right, step.crash)

    @rule(
        held=actions,
        who=st.sampled_from(callers),
        start=st.sampled_from(statuses),
        to=st.sampled_from(statuses),
    )
    def stray(self, held: Expected, who: str, start: str, to: str) -> None:
        self.move(held, who, start, to, right=True, crash=False)

    def move(self, held: Expected, who: str, start: str, to: str, right: bool, crash: bool) -> None:
        action = access_action(self.who["one"], held.uid)
        digest = consent_digest(action, action.current) if right else "0" * 64
        receipt = {"at": held.moved} if to in ("done", "failed") else None

        code, moved = attempt(
            self.lost_if(
                crash,
                lambda: transition_action(self.who[who], held.uid, start, to, digest=digest, receipt=receipt),
            )
        )
        assert code == (self.outcome(who, held, start, to, right) or ("crash" if crash else ""))
        if moved is None:
            return
        if to == "approved" and len(held.agreed) + 1 < self.people:
            assert moved.status == "pending"
            held.agreed.add(who)
            held.moved, held.decisions = held.moved + 1, held.decisions + 1
        else:
            assert moved.status == to
            held.agreed |= {who} if to == "approved" else set()
            self.moved(held, who, to, receipt)

    def moved(self, held: Expected, who: str, to: str, receipt: Any) -> None:
        held.ever.append(held.status)
        held.status, held.moved = to, held.moved + 1
        held.decisions += to in ("approved", "rejected")
        held.claimer = who if to == "executing" else held.claimer
        held.receipt = receipt or held.receipt

    @rule(held=actions, who=st.sampled_from(callers), n=st.integers(0, 2), right=mostly, crash=seldom)
    def edit(self, held: Expected, who: str, n: int, right: bool, crash: bool) -> None:
        """A new revision: pending, and whoever had agreed has to be asked again."""
        action = access_action(self.who["one"], held.uid)
        digest = consent_digest(action, action.current) if right else "0" * 64
        act = self.lost_if(
            crash, lambda: edit_action(self.who[who], held.uid, payload={"n": n}, digest=digest)
        )
        code, edited = attempt(act)
        assert code == (self.outcome_of_edit(who, held, n, right) or ("crash" if crash else ""))
        if edited:
            held.edited, held.revision, held.moved = {"n": n}, held.revision + 1, held.moved + 1
            held.agreed = set()
            assert (edited.status, edited.current.payload) == ("pending", {"n": n})

    def outcome_of_edit(self, who: str, held: Expected, n: int, right: bool) -> str:
        if not self.may(who, held, "approved"):
            return "forbidden"
        if self.status(held) != "pending" or not right:
            return "conflict"
        return "validation_failed" if (held.edited or held.payload) == {"n": n} else ""

    @rule(
        held=actions,
        who=st.sampled_from(callers),
        seconds=st.sampled_from([None, 1, 60, 3000]),
        crash=seldom,
    )
    def snooze(self, held: Expected, who: str, seconds: int | None, crash: bool) -> None:
        until = self.now + timedelta(seconds=seconds) if seconds else None
        code, snoozed = attempt(
            self.lost_if(crash, lambda: snooze_action(self.who[who], held.uid, until=until))
        )
        assert code == (self.outcome_of_snooze(who, held, until) or ("crash" if crash else ""))
        if snoozed:
            held.snoozed_until, held.moved = until, held.moved + 1

    def outcome_of_snooze(self, who: str, held: Expected, until: datetime | None) -> str:
        if not self.may(who, held, "approved"):
            return "forbidden"
        if self.status(held) != "pending":
            return "conflict"
        return "validation_failed" if until and until >= held.expires_at else ""

    def lost_if(self, crash: bool, act: Callable[[], Action]) -> Callable[[], Action]:
        def and_crash() -> Action:
            with transaction.atomic():
                acted = act()
                if crash:
                    raise Crash
            return acted

        return and_crash

    @rule(seconds=st.sampled_from([1, 10, 3700]))
    def wait(self, seconds: int) -> None:
        self.clock.shift(seconds)
        self.now += timedelta(seconds=seconds)

    @rule(held=actions)
    def sweep(self, held: Expected) -> None:
        due = self.status(held) == "expired" and held.status != "expired"
        assert expire_action(self.space.account_id, access_action(self.who["one"], held.uid).id) is due
        if due:
            self.moved(held, "system", "expired", None)

    @invariant()
    def what_is_stored_is_what_the_model_says(self) -> None:
        stored = {a.number: a for a in Action.objects.inside(self.space)}
        assert {
            n: (a.status_at(self.now), a.status, a.receipt, a.revision, a.snoozed_until)
            for n, a in stored.items()
        } == {h.number: (self.status(h), h.status, h.receipt, h.revision, h.snoozed_until) for h in self.held}

    @invariant()
    def nothing_runs_or_ran_without_approval_and_nothing_moves_after_its_end(self) -> None:
        for held in self.held:
            assert "executing" not in (*held.ever, held.status) or "approved" in held.ever
            assert "approved" not in (*held.ever, held.status) or len(held.agreed) == self.people
            assert not ends & set(held.ever)

    def teardown(self) -> None:
        """Every move left one event, every decision one record; lists and counts agree."""
        of_space = Event.objects.filter(space_id=self.space.id, type__startswith="action.")
        assert of_space.count() == sum(h.moved for h in self.held)
        assert Approval.objects.filter(space_id=self.space.id).count() == sum(h.decisions for h in self.held)
        states = [self.status(h) for h in self.held]
        assert len(list_actions(self.who["one"], limit=100)) == sum(s not in ends for s in states)
        asleep = [h for h in self.held if self.status(h) == "pending" and (h.snoozed_until or NOW) > self.now]
        counted = count_inbox(self.who["viewer"])
        assert (counted["waiting"], counted["snoozed"]) == (
            states.count("pending") - len(asleep),
            len(asleep),
        )


def run(cast: Cast, clock: Any, examples: int, steps: int, *, start: int = 0) -> None:
    chosen = settings(
        max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(seed(start)(lambda: Lives(cast, clock)), settings=chosen)


def test_random_lives_of_actions_follow_the_model(cast: Cast, clock: Any) -> None:
    run(cast, clock, examples=40, steps=12)


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(1, 11))
def test_ten_thousand_random_lives_of_actions_follow_the_model(cast: Cast, clock: Any, thousand: int) -> None:
    """Each thousand in a transaction of its own, from another start."""
    run(cast, clock, examples=1_000, steps=6, start=thousand)
