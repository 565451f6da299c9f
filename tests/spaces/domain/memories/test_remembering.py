from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection

import spaces.tasks  # noqa: F401 (the worker's jobs)
from accounts.actor import Attribution
from accounts.domain.jobs import run_due_jobs
from accounts.models import Event, Job
from memoryhub.common.errors import Forbidden, HubError, NotFound, QuotaExceeded, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page
from memoryhub.common.tenancy import tenant
from spaces.domain.memories import (
    Remembered,
    Statement,
    access_memory,
    edit_memory,
    recall,
    remember,
    remember_each,
)
from spaces.domain.memories.access import writing_place
from spaces.domain.memories.remembering import composed
from spaces.domain.spaces import create_space
from spaces.models import Memory, MemoryVersion
from tests.conftest import Cast

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def say(cast: Cast, text: str, **fields: Any) -> Memory:
    return remember(cast.agent, text=text, **fields).memory


@pytest.mark.usefixtures("inside")
class TestOneStatement:
    def test_is_kept_as_it_was_typed_without_the_white_space_around_it(self, cast: Cast) -> None:
        stored = say(cast, "  Ana\u0301  lives in\n Porto.  ")
        assert access_memory(cast.agent, stored.id).text == "Ana\u0301  lives in\n Porto."

    def test_gets_the_defaults_of_a_plain_fact(self, cast: Cast) -> None:
        stored = access_memory(cast.agent, say(cast, "Ana lives in Porto").id)
        assert (stored.kind, stored.tier, stored.origin, stored.importance) == ("fact", "long", "agent", 0.5)
        assert (stored.status, stored.version, stored.seen_count, stored.recall_count) == ("active", 1, 1, 0)
        assert (stored.expires_at, stored.space_id) == (None, cast.space.id)
        assert stored.occurred_at == stored.created_at == stored.updated_at == stored.last_seen_at

    def test_is_trusted_by_who_writes_it_whatever_its_origin(self, cast: Cast) -> None:
        assert say(cast, "said by an agent", origin="user").trust == "agent"
        assert remember(cast.teammate, text="said by a person").memory.trust == "person"

    def test_is_attributed_to_what_the_client_says_of_itself(self, cast: Cast) -> None:
        client = Attribution(agent="coder", agent_instance="coder-7", device_label="laptop", session="s1")
        stored = remember(cast.key(attribution=client), text="one").memory
        said_by = (stored.agent, stored.agent_instance, stored.device_label, stored.session)
        assert said_by == ("coder", "coder-7", "laptop", "s1")
        assert stored.written_by == cast.agent.key

    def test_named_agent_and_session_count_before_the_client_s(self, cast: Cast) -> None:
        client = Attribution(agent="coder", session="s1")
        stored = remember(cast.key(attribution=client), text="one", agent="other", session="s2").memory
        assert (stored.agent, stored.session, stored.session_scoped) == ("other", "s2", False)

    def test_leaves_one_event_that_holds_no_text(self, cast: Cast) -> None:
        stored = say(cast, "Ana lives in Porto")
        event = Event.objects.get(type="memory.created")
        assert (event.object_id, event.space_id) == (typed_id("mem", stored.id), cast.space.id)
        assert event.summary == ""

    def test_needs_a_text_that_shows_something(self, cast: Cast) -> None:
        for blank in ("", "   ", "\u200b\u200d"):
            with pytest.raises(ValidationFailed) as caught:
                say(cast, blank)
            assert list(caught.value.fields) == ["text"]

    def test_of_more_than_fifty_thousand_characters_is_refused(self, cast: Cast) -> None:
        assert len(say(cast, "x" * 50_000).text) == 50_000
        with pytest.raises(ValidationFailed):
            say(cast, "x" * 50_001)

    def test_of_any_words_is_stored_however_many_there_are(self, cast: Cast) -> None:
        text = " ".join(f"{n:08x}" for n in range(5_000))
        assert say(cast, text).text == text

    def test_of_a_viewer_is_forbidden(self, cast: Cast) -> None:
        with pytest.raises(Forbidden):
            remember(cast.viewer, text="one")

    def test_in_a_space_that_is_not_seen_is_not_found(self, cast: Cast) -> None:
        with pytest.raises(NotFound):
            remember(cast.agent.in_space(typed_id("spc", cast.outsider_space.id)), text="one")

    def test_tells_every_fault_at_once(self, cast: Cast) -> None:
        with pytest.raises(ValidationFailed) as caught:
            say(cast, "one", subject="x" * 121, tags=["ok", " "], path="a//b", expires_at="2020-01-01")
        assert list(caught.value.fields) == ["subject", "tags[1]", "path", "expires_at"]


@pytest.mark.usefixtures("inside")
class TestWhenItEnds:
    def test_a_scratch_memory_ends_after_the_days_of_its_space(self, cast: Cast) -> None:
        cast.space.scratch_days = 3
        cast.space.save()
        with time_machine.travel(NOW, tick=False):
            assert say(cast, "one", tier="scratch").expires_at == NOW + timedelta(days=3)
            assert say(cast, "two", tier="scratch", expires_at="").expires_at is None
            assert say(cast, "three", tier="long").expires_at is None

    def test_a_date_alone_lasts_through_that_day_where_the_space_is(self, cast: Cast) -> None:
        cast.space.time_zone = "Asia/Tokyo"
        cast.space.save()
        with time_machine.travel(NOW, tick=False):
            stored = say(cast, "one", expires_at="2026-03-03")
        assert stored.expires_at == datetime(2026, 3, 3, 14, 59, 59, 999999, tzinfo=UTC)

    def test_an_expired_memory_is_not_found_and_its_twin_is_a_new_one(self, cast: Cast) -> None:
        with time_machine.travel(NOW, tick=False) as clock:
            first = say(cast, "Ana is on leave", expires_at="2026-03-02T13:00Z")
            clock.shift(timedelta(hours=1))
            with pytest.raises(NotFound):
                access_memory(cast.agent, first.id)
            again = remember(cast.agent, text="Ana is on leave")
            assert again.created
            assert list(Memory.objects.values_list("id", flat=True)) == [again.memory.id]

    def test_a_pinned_memory_does_not_expire(self, cast: Cast) -> None:
        with time_machine.travel(NOW, tick=False) as clock:
            stored = say(cast, "one", tier="scratch", pinned=True)
            clock.shift(timedelta(days=30))
            assert access_memory(cast.agent, stored.id) == stored
            assert not remember(cast.agent, text="one").created

    def test_an_expired_row_is_cleared_away_with_its_versions(self, cast: Cast) -> None:
        with time_machine.travel(NOW, tick=False) as clock:
            kept = say(cast, "kept for longer", expires_at="2026-03-03T00:00Z")
            edit_memory(cast.agent, kept.id, expires_at="2026-03-09T00:00Z")
            gone = say(cast, "gone", expires_at="2026-03-03T00:00Z")
            edit_memory(cast.agent, gone.id, text="gone soon")
            clock.shift(timedelta(days=2))
            run_due_jobs()
            assert list(Memory.objects.values_list("id", flat=True)) == [kept.id]
            assert list(MemoryVersion.objects.values_list("memory_id", flat=True)) == [kept.id]
        assert Event.objects.filter(type="memory.deleted", actor="system:system").count() == 1


@pytest.mark.usefixtures("inside")
class TestTheSameAgain:
    @pytest.mark.parametrize(
        "again",
        [
            "likes chinese food",
            "Likes  Chinese\nfood",
            "Likes Chinese food.",
            "Ｌikes Chinese food!?",
            "LIKES CHINESE FOOD",
        ],
    )
    def test_is_seen_again_and_keeps_the_first_spelling(self, cast: Cast, again: str) -> None:
        first = say(cast, "Likes Chinese food")
        seen = remember(cast.agent, text=again)
        assert (seen.created, seen.memory.id, seen.memory.seen_count) == (False, first.id, 2)
        assert access_memory(cast.agent, first.id).text == "Likes Chinese food"

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Likes Chinese food", "Hates Chinese food"),
            ("Budget is 1,000", "Budget is 10,000"),
            ("Ana leads billing", "Anna leads billing"),
            ("It is in C", "It is in C++"),
            ("Deploys are allowed", "Deploys are not allowed"),
            ("部署窗口是周二下午", "部署窗口是周三下午"),
        ],
    )
    def test_is_not_what_differs_in_a_word_a_number_or_a_name(self, cast: Cast, one: str, other: str) -> None:
        assert say(cast, one).id != say(cast, other).id

    @pytest.mark.parametrize(
        "difference",
        [
            {"kind": "decision"},
            {"subject": "ana"},
            {"path": "projects/x"},
            {"metadata": {"user_id": "u1"}},
            {"session": "s2", "session_scoped": True},
        ],
    )
    def test_is_not_what_is_about_something_else(self, cast: Cast, difference: Statement) -> None:
        assert say(cast, "one").id != say(cast, "one", **difference).id

    def test_does_not_depend_on_what_is_not_part_of_a_statement(self, cast: Cast) -> None:
        first = say(cast, "one", subject="Ana\u0301", path="Projects/X", session="s1")
        again = say(cast, "one", subject="An\u00e1", path="projects/x", session="s2", metadata={"a": 1})
        assert again.id == first.id

    def test_in_another_space_or_for_the_whole_account_is_another_memory(self, cast: Cast) -> None:
        create_space(cast.owner, name="Other", slug="other")
        made = [
            remember(cast.agent, text="one"),
            remember(cast.agent.in_space("other"), text="one"),
            remember(cast.agent, text="one", account_wide=True),
        ]
        assert [m.created for m in made] == [True, True, True]

    def test_adds_what_it_says_and_takes_nothing_away(self, cast: Cast) -> None:
        say(
            cast,
            "one",
            tags=["a", "b"],
            topics=["x"],
            pinned=True,
            origin="user",
            tier="core",
            links=[{"ref": "1"}],
        )
        seen = say(
            cast, "one", tags=["b", "c"], topics=["y"], origin="agent", tier="scratch", links=[{"ref": "2"}]
        )
        assert (seen.tags, seen.topics, seen.links) == (
            ["a", "b", "c"],
            ["x", "y"],
            [{"ref": "1"}, {"ref": "2"}],
        )
        assert (seen.pinned, seen.origin, seen.tier, seen.expires_at) == (True, "user", "core", None)

    def test_raises_origin_tier_and_pin(self, cast: Cast) -> None:
        say(cast, "one", tier="scratch")
        assert say(cast, "one", tier="long").tier == "long"
        seen = say(cast, "one", tier="core", origin="user", pinned=True)
        assert (seen.tier, seen.origin, seen.pinned) == ("core", "user", True)

    def test_keeps_the_later_expiry_and_never_is_the_latest(self, cast: Cast) -> None:
        with time_machine.travel(NOW, tick=False):
            say(cast, "one", expires_at="2026-03-05T00:00Z")
            assert say(cast, "one", expires_at="2026-03-04T00:00Z").expires_at == datetime(
                2026, 3, 5, tzinfo=UTC
            )
            assert say(cast, "one", expires_at="2026-03-06T00:00Z").expires_at == datetime(
                2026, 3, 6, tzinfo=UTC
            )
            assert say(cast, "one").expires_at is None
            assert say(cast, "one", expires_at="2026-03-06T00:00Z").expires_at is None

    def test_raises_the_version_only_if_it_says_more(self, cast: Cast) -> None:
        say(cast, "one", tags=["a"])
        assert (say(cast, "one").version, say(cast, "one", tags=["b"]).version) == (1, 2)
        assert [v.data["tags"] for v in MemoryVersion.objects.all()] == [["a"]]
        assert Event.objects.filter(type="memory.updated").count() == 1

    def test_said_by_a_person_is_trusted_as_theirs_and_not_less_when_an_agent_repeats_it(
        self, cast: Cast
    ) -> None:
        say(cast, "one")
        assert remember(cast.teammate, text="one").memory.trust == "person"
        assert say(cast, "one").trust == "person"

    def test_takes_no_more_labels_than_a_row_should_have(self, cast: Cast) -> None:
        for start in range(0, 300, 20):
            seen = say(cast, "one", tags=[f"t{n}" for n in range(start, start + 20)])
        assert seen.tags == [f"t{n}" for n in range(200)]

    def test_of_another_account_is_never_seen(self, cast: Cast) -> None:
        say(cast, "one")
        with tenant(cast.outsider.account_id):
            assert remember(cast.outsider, text="one").created


@pytest.mark.usefixtures("inside")
class TestTheCore:
    def test_holds_sixty_memories(self, cast: Cast) -> None:
        for n in range(60):
            say(cast, f"core fact {n}", tier="core", importance=0.1 if n == 7 else 0.5)
        with pytest.raises(QuotaExceeded) as caught:
            say(cast, "one too many", tier="core")
        details = caught.value.details
        assert (details["quota"], details["limit"], details["used"]) == ("core_memories", 60, 60)
        least = Memory.objects.get(text="core fact 7")
        assert details["demote"][0] == typed_id("mem", least.id)
        assert typed_id("mem", least.id) in caught.value.message
        assert not Memory.objects.filter(text="one too many").exists()

    def test_holds_twelve_thousand_characters(self, cast: Cast) -> None:
        say(cast, "x" * 8_000, tier="core")
        with pytest.raises(QuotaExceeded) as caught:
            say(cast, "y" * 4_001, tier="core")
        assert (caught.value.details["quota"], caught.value.details["used"]) == ("core_characters", 8_000)
        assert say(cast, "z" * 4_000, tier="core").tier == "core"

    def test_has_no_room_for_a_text_longer_than_itself(self, cast: Cast) -> None:
        with pytest.raises(QuotaExceeded) as caught:
            say(cast, "x" * 12_001, tier="core")
        assert caught.value.details["demote"] == []

    def test_is_counted_without_what_expired_and_per_space(self, cast: Cast) -> None:
        create_space(cast.owner, name="Other", slug="other")
        with time_machine.travel(NOW, tick=False) as clock:
            say(cast, "x" * 12_000, tier="core", expires_at="2026-03-03")
            remember(cast.agent.in_space("other"), text="y" * 12_000, tier="core")
            remember(cast.agent, text="z" * 12_000, tier="core", account_wide=True)
            clock.shift(timedelta(days=2))
            assert say(cast, "w" * 12_000, tier="core").tier == "core"

    def test_is_full_for_a_repeat_or_an_edit_as_well(self, cast: Cast) -> None:
        say(cast, "x" * 11_990, tier="core")
        other = say(cast, "y" * 11)
        with pytest.raises(QuotaExceeded):
            say(cast, "y" * 11, tier="core")
        with pytest.raises(QuotaExceeded):
            edit_memory(cast.agent, other.id, tier="core")
        small = say(cast, "z" * 10, tier="core")
        with pytest.raises(QuotaExceeded):
            edit_memory(cast.agent, small.id, text="z" * 11)


@pytest.mark.usefixtures("inside")
class TestTheAccountAsAWhole:
    def test_is_written_to_only_by_keys_that_reach_every_space(self, cast: Cast) -> None:
        held = cast.key(space_ids=frozenset([cast.space.id]))
        with pytest.raises(Forbidden):
            remember(held, text="one", account_wide=True)
        with pytest.raises(Forbidden):
            remember(cast.viewer, text="one", account_wide=True)
        shared = remember(cast.agent, text="one", account_wide=True).memory
        assert access_memory(held, shared.id).space_id is None
        with pytest.raises(Forbidden):
            edit_memory(held, shared.id, text="two")


@pytest.mark.usefixtures("inside")
class TestManyAtOnce:
    def test_what_is_refused_leaves_the_others_alone(self, cast: Cast) -> None:
        too_long: Statement = {"text": "x" * 12_001, "tier": "core"}
        outcomes = remember_each(
            cast.agent, [{"text": "one"}, {"text": " "}, {"text": "one"}, too_long, {"text": "two"}]
        )
        told = [o.created if isinstance(o, Remembered) else o.code for o in outcomes]
        assert told == [True, "validation_failed", False, "quota_exceeded", True]
        assert set(Memory.objects.values_list("text", flat=True)) == {"one", "two"}


@pytest.mark.django_db(transaction=True)
class TestInParallel:
    def run(self, tasks: list[Any]) -> list[Any]:
        def alone(task: Any) -> Any:
            try:
                return task()
            except HubError as refusal:
                return refusal
            finally:
                connection.close()

        with ThreadPoolExecutor(len(tasks)) as pool:
            return list(pool.map(alone, tasks))

    def test_twenty_equal_statements_make_one_row_seen_twenty_times(self, cast: Cast) -> None:
        def write(n: int) -> Remembered:
            with tenant(cast.account.id):
                return remember(cast.agent, text="Deploy window is Tuesday", tags=[f"t{n}"])

        made = self.run([lambda n=n: write(n) for n in range(20)])
        assert sorted(m.created for m in made) == [False] * 19 + [True]
        with tenant(cast.account.id):
            row = Memory.objects.get()
            assert (row.seen_count, sorted(row.tags)) == (20, sorted(f"t{n}" for n in range(20)))
            assert (row.version, MemoryVersion.objects.count()) == (20, 19)

    def test_an_expired_twin_is_replaced_once(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            old = remember(cast.agent, text="one").memory
            Memory.objects.filter(id=old.id).update(expires_at=old.created_at)

        def write() -> Remembered:
            with tenant(cast.account.id):
                return remember(cast.agent, text="one")

        made = self.run([write] * 8)
        assert sum(m.created for m in made) == 1
        assert {m.memory.id for m in made} != {old.id}
        with tenant(cast.account.id):
            assert Memory.objects.get().seen_count == 8

    def test_the_core_is_never_overfilled(self, cast: Cast) -> None:
        def write(n: int) -> Remembered:
            with tenant(cast.account.id):
                return remember(cast.agent, text=f"{n}" * 2_000, tier="core")

        made = self.run([lambda n=n: write(n) for n in range(9)])
        assert sum(isinstance(m, Remembered) for m in made) == 6

    def test_two_batches_of_the_same_in_opposite_orders_both_end(self, cast: Cast) -> None:
        statements: list[Statement] = [{"text": f"fact {n}"} for n in range(30)]

        def write(order: list[Statement]) -> list[Any]:
            with tenant(cast.account.id):
                return remember_each(cast.agent, order)

        orders = [statements, statements[::-1]] * 3
        outcomes = self.run([lambda o=order: write(o) for order in orders])
        assert sum(o.created for made in outcomes for o in made) == 30
        with tenant(cast.account.id):
            assert set(Memory.objects.values_list("seen_count", flat=True)) == {6}

    def test_repeating_many_while_they_are_recalled_ends(self, cast: Cast) -> None:
        """Made in the reverse order of identities, so that ids and identities would be locked crosswise."""
        with tenant(cast.account.id):
            place = writing_place(cast.agent)
            made = [composed(cast.agent, place, {"text": f"fact {n}"}) for n in range(40)]
            ordered = sorted(made, key=lambda memory: memory.identity, reverse=True)
            statements: list[Statement] = [{"text": memory.text} for memory in ordered]
            for statement in statements:
                remember(cast.agent, **statement)

        def write() -> None:
            with tenant(cast.account.id):
                remember_each(cast.agent, statements)

        def read() -> None:
            for _ in range(20):
                with tenant(cast.account.id):
                    recall(cast.agent, limit=100, told=lambda page: Page([{"n": 1} for _ in page.items]))

        self.run([write] * 6 + [read] * 2)
        with tenant(cast.account.id):
            assert set(Memory.objects.values_list("seen_count", "recall_count")) == {(7, 40)}

    def test_what_is_rolled_back_leaves_nothing_to_do(self, cast: Cast) -> None:
        with pytest.raises(RuntimeError), tenant(cast.account.id):
            remember(cast.agent, text="one", tier="scratch")
            raise RuntimeError
        assert not Job.objects.filter(kind="expire_memory").exists()
        with tenant(cast.account.id):
            assert not Event.objects.filter(type="memory.created").exists()
            assert not Memory.objects.exists()
            assert remember(cast.agent, text="one", tier="scratch").created
            assert Job.objects.filter(kind="expire_memory").count() == 1
