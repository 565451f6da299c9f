"""Whatever is done in whatever order: one row a statement, nothing lost that was not taken away, all found."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from memoryhub.common.errors import Conflict, NotFound
from memoryhub.common.ids import typed_id
from memoryhub.common.text import fold_statement
from memoryhub.flows.forgetting import forget
from spaces.domain.memories import access_memory, delete_memory, edit_memory, find_memories, recall, remember
from spaces.models import Memory, MemoryVersion
from spaces.models.memories import ORIGINS, TIERS
from tests.conftest import Cast

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
WORDS = ("apple", "banana", "cherry")
texts = st.sampled_from([spelling for word in WORDS for spelling in (f"The {word}", f"the  {word.upper()}.")])
subjects = st.sampled_from(["", "ann"])
tags = st.lists(st.sampled_from("abc"), max_size=2, unique=True)
days = st.sampled_from([None, 1, 3])


@dataclass
class Known:
    """What has to be true of a memory."""

    text: str
    subject: str
    tags: list[str]
    tier: str
    origin: str
    pinned: bool
    expires_at: datetime | None
    seen: int = 1
    recalls: int = 0
    versions: int = 1
    earlier: list[str] = field(default_factory=list)

    @property
    def identity(self) -> tuple[str, str]:
        return fold_statement(self.text), self.subject

    def state(self) -> tuple[object, ...]:
        return (
            self.text,
            self.subject,
            sorted(self.tags),
            self.tier,
            self.origin,
            self.pinned,
            self.expires_at,
        )


class Memories(RuleBasedStateMachine):
    cast: Cast

    def __init__(self) -> None:
        super().__init__()
        self.clock = time_machine.travel(START, tick=False)
        self.time = self.clock.start()
        self.now = START
        self.known: dict[str, Known] = {}
        self.sandbox = transaction.atomic()
        self.sandbox.__enter__()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.sandbox.__exit__(None, None, None)
        self.clock.stop()

    def live(self) -> dict[str, Known]:
        return {
            id: k for id, k in self.known.items() if k.pinned or not k.expires_at or k.expires_at > self.now
        }

    def twin(self, identity: tuple[str, str], besides: str = "") -> str | None:
        return next((id for id, k in self.live().items() if k.identity == identity and id != besides), None)

    def drop_expired(self, identity: tuple[str, str]) -> None:
        for id in [id for id, k in self.known.items() if k.identity == identity and id not in self.live()]:
            del self.known[id]

    def any_of(self, number: int) -> str | None:
        ids = sorted(self.live())
        return ids[number % len(ids)] if ids else None

    @rule(
        text=texts, subject=subjects, tags=tags, tier=st.sampled_from(TIERS), origin=st.sampled_from(ORIGINS),
        pinned=st.booleans(), ends=days,
    )  # fmt: skip
    def remember(
        self, text: str, subject: str, tags: list[str], tier: str, origin: str, pinned: bool, ends: int | None
    ) -> None:
        given = {"expires_at": (self.now + timedelta(days=ends)).isoformat()} if ends else {}
        made = remember(
            self.cast.agent,
            text=text,
            subject=subject,
            tags=tags,
            tier=tier,
            origin=origin,
            pinned=pinned,
            **given,
        )
        by_tier = 7 if tier == "scratch" else None
        length = ends or by_tier
        said = Known(
            text, subject, tags, tier, origin, pinned, self.now + timedelta(days=length) if length else None
        )
        twin = self.twin(said.identity)
        assert made.created is (twin is None)
        if twin is None:
            self.drop_expired(said.identity)
            self.known[typed_id("mem", made.memory.id)] = said
        else:
            self.see_again(self.known[twin], said)

    def see_again(self, known: Known, said: Known) -> None:
        before = known.state()
        known.seen += 1
        known.tags = known.tags + [tag for tag in said.tags if tag not in known.tags]
        known.tier = max(known.tier, said.tier, key=TIERS.index)
        known.origin = max(known.origin, said.origin, key=ORIGINS.index)
        known.pinned |= said.pinned
        never = known.expires_at is None or said.expires_at is None
        known.expires_at = None if never else max(known.expires_at, said.expires_at)  # type: ignore[type-var]
        self.changed(known, before)

    def changed(self, known: Known, before: tuple[object, ...]) -> None:
        if known.state() != before:
            known.versions += 1
            known.earlier.append(str(before[0]))

    @rule(number=st.integers(0, 9), text=texts, subject=subjects)
    def edit(self, number: int, text: str, subject: str) -> None:
        if (id := self.any_of(number)) is None:
            return
        known, wanted = self.known[id], (fold_statement(text), subject)
        if self.twin(wanted, besides=id):
            with pytest.raises(Conflict):
                edit_memory(self.cast.agent, id, text=text, subject=subject)
            return
        edit_memory(self.cast.agent, id, text=text, subject=subject, expected_version=known.versions)
        before = known.state()
        if known.identity != wanted:
            self.drop_expired(wanted)
        known.text, known.subject = text, subject
        self.changed(known, before)

    @rule(number=st.integers(0, 9))
    def delete(self, number: int) -> None:
        if id := self.any_of(number):
            delete_memory(self.cast.agent, id)
            del self.known[id]

    @rule(word=st.sampled_from(WORDS))
    def forget(self, word: str) -> None:
        forget(self.cast.agent, query=word)
        self.known = {id: k for id, k in self.known.items() if word not in k.text.lower()}
        for known in self.known.values():
            known.earlier = [text for text in known.earlier if word not in text.lower()]

    @rule(word=st.sampled_from(WORDS))
    def recall(self, word: str) -> None:
        found = recall(
            self.cast.agent, word, told=lambda page: page.shown(lambda m: {"id": typed_id("mem", m.id)})
        )
        ids = {row["id"] for row in found.page.items}
        assert ids == {id for id, known in self.live().items() if word in known.text.lower()}
        for id in ids:
            self.known[id].recalls += 1

    @rule(hours=st.sampled_from([1, 25, 24 * 8]))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)
        self.time.move_to(self.now, tick=False)

    @invariant()
    def what_is_stored_is_what_is_known(self) -> None:
        rows = {typed_id("mem", m.id): m for m in Memory.objects.all()}
        assert rows.keys() == self.known.keys()
        for id, known in self.known.items():
            row = rows[id]
            told = (row.text, row.subject, sorted(row.tags), row.tier, row.origin, row.pinned, row.expires_at)
            assert told == known.state()
            assert (row.seen_count, row.version, row.recall_count) == (
                known.seen,
                known.versions,
                known.recalls,
            )

    @invariant()
    def what_was_is_kept_until_it_is_forgotten(self) -> None:
        kept: dict[str, list[str]] = {}
        for version in MemoryVersion.objects.order_by("version"):
            kept.setdefault(typed_id("mem", version.memory_id), []).append(version.data["text"])
        assert kept == {id: known.earlier for id, known in self.known.items() if known.earlier}

    @invariant()
    def only_what_is_live_is_read(self) -> None:
        listed = {typed_id("mem", m.id) for m in find_memories(self.cast.agent, limit=100).page.items}
        assert listed == self.live().keys()
        for id in self.known:
            if id in listed:
                access_memory(self.cast.agent, id)
            else:
                with pytest.raises(NotFound):
                    access_memory(self.cast.agent, id)


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("examples", [10, pytest.param(1_000, marks=pytest.mark.slow)])
def test_any_order_of_remembering_editing_and_forgetting_keeps_every_promise(
    cast: Cast, examples: int
) -> None:
    class Here(Memories):
        pass

    Here.cast = cast
    run_state_machine_as_test(
        Here, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None)
    )
