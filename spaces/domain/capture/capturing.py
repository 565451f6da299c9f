"""Going through what was said, event by event: skipped by a rule, kept, or left for a person to look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.ids import typed_id
from memoryhub.common.locks import lock
from memoryhub.common.text import fold_statement, text_hash
from spaces.domain.access import access_space
from spaces.domain.capture.rules import ROLES, RULES
from spaces.domain.capture.secrets import holds_secret
from spaces.domain.capture.triggers import trigger_in
from spaces.domain.memories import remember
from spaces.domain.memories.identity import identity_of
from spaces.models import Capture, Memory, Space

EVENTS = 200
EACH_TURN, EACH_SESSION = 3, 20
OFF, REVIEW, ON = "off", "review", "on"
SOURCE = "capture"


@dataclass(frozen=True)
class Said:
    role: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """`rule` is the one that objected; `capture` what was kept or waits."""

    rule: str = ""
    capture: Capture | None = None


@dataclass(frozen=True)
class Captured:
    """`mode` is that of the space."""

    mode: str
    outcomes: list[Outcome]


def capture(actor: Actor, events: Sequence[Said], *, agent: str = "", session: str = "") -> Captured:
    """The events of a session in their order; a turn begins with each thing that a user says."""
    space = access_space(actor, right=Right.WRITE)
    if space.capture_mode == OFF:
        return Captured(OFF, [Outcome(OFF) for _ in events])
    label = (session or actor.attribution.session or actor.key)[:200]
    run = _Run(actor, space, agent or actor.attribution.agent, label)
    with transaction.atomic():
        lock(f"capture:{space.id}")  # what is counted and compared stays so until the end
        run.begin()
        return Captured(space.capture_mode, list(run.through(events)))


@dataclass
class _Run:
    actor: Actor
    space: Space
    agent: str
    session: str
    in_session: int = 0
    in_turn: int = 0

    def begin(self) -> None:
        self.in_session = Capture.objects.inside(self.space).filter(session=self.session).count()

    def through(self, events: Sequence[Said]) -> Iterator[Outcome]:
        for said in events:
            role, text = said.role.strip().lower(), said.text.strip()
            if ROLES.get(role) == "user":
                self.in_turn = 0
            yield self.one(role, text)

    def one(self, role: str, text: str) -> Outcome:
        if rule := self.objection(role, text):
            return Outcome(rule)
        self.in_turn += 1
        self.in_session += 1
        return Outcome(
            capture=self.kept(role, text) if self.space.capture_mode == ON else self.waiting(role, text)
        )

    def objection(self, role: str, text: str) -> str:
        """The first rule that has something against it."""
        for name, objects in RULES.items():
            if objects(role, text):
                return name
        if holds_secret(text):
            return "secret"
        if not trigger_in(text):
            return "no_trigger"
        if self.is_known(text):
            return "duplicate"
        if self.in_turn >= EACH_TURN:
            return "turn_limit"
        return "session_limit" if self.in_session >= EACH_SESSION else ""

    def is_known(self, text: str) -> bool:
        """Captured before, whatever became of it then; or what a memory says already."""
        if Capture.objects.inside(self.space).filter(fold_hash=fold_hash(text)).exists():
            return True
        facts = [
            Memory(account_id=self.space.account_id, space=space, text=text) for space in (self.space, None)
        ]
        for fact in facts:
            fact.identity = identity_of(fact)
        return Memory.objects.identical_to(*facts).live().exists()

    def waiting(self, role: str, text: str) -> Capture:
        row = self.row(role, text, text=text)
        row.save(force_insert=True)
        record_event(
            self.actor, "capture.waiting", "capture", typed_id("cap", row.id), space_id=self.space.id
        )
        return row

    def kept(self, role: str, text: str) -> Capture:
        memory = remember(
            self.actor,
            captured=True,
            text=text,
            origin=ROLES[role],
            agent=self.agent,
            session=self.session,
            source_ref=SOURCE,
        ).memory
        row = self.row(role, text, state="kept", memory=memory)
        row.save(force_insert=True)
        return row

    def row(self, role: str, said: str, **fields: Any) -> Capture:
        return Capture(
            account_id=self.actor.account_id,
            space=self.space,
            origin=ROLES[role],
            agent=self.agent,
            session=self.session,
            trigger=trigger_in(said)[:60],
            fold_hash=fold_hash(said),
            written_by=self.actor.key,
            created_at=timezone.now(),
            **fields,
        )


def fold_hash(text: str) -> bytes:
    return text_hash(fold_statement(text))
