from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from memoryhub.common.errors import InvalidRequest, NotFound, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page
from memoryhub.common.tenancy import tenant
from spaces.domain.memories import Recalled, Wanted, core_memories, find_memories, recall, remember
from spaces.domain.spaces import create_space
from spaces.models import Memory
from tests.calls import queries
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def texts(cast: Cast, query: str = "", **wanted: Any) -> list[str]:
    return [m.text for m in find_memories(cast.agent, query, Wanted(**wanted)).page.items]


def plain(page: Page[Memory]) -> Page[dict[str, Any]]:
    return Page([{"text": memory.text} for memory in page.items])


def recalled(cast: Cast, query: str = "", **options: Any) -> Recalled:
    return recall(cast.agent, query, told=plain, **options)


def test_a_question_finds_the_fact_that_has_some_of_its_words(cast: Cast) -> None:
    remember(cast.agent, text="Deploy window is Tuesday 14:00 UTC")
    remember(cast.agent, text="Ana lives in Porto")
    found = find_memories(cast.agent, "why did we choose the deploy window")
    assert ([m.text for m in found.page.items], found.mode) == (
        ["Deploy window is Tuesday 14:00 UTC"],
        "words",
    )


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_without_a_query_the_newest_come_first(cast: Cast, query: str) -> None:
    for n in range(3):
        remember(cast.agent, text=f"fact {n}")
    found = find_memories(cast.agent, query, limit=2)
    assert ([m.text for m in found.page.items], found.mode) == (["fact 2", "fact 1"], "newest")


@pytest.mark.parametrize(
    "query", ["???", "👍", "what is it about the", "' OR 1=1 --", "%", "&|!():*<->", "x" * 30_000]
)
def test_any_text_is_a_query(cast: Cast, query: str) -> None:
    remember(cast.agent, text="Deploy window is Tuesday")
    assert find_memories(cast.agent, query).mode in ("words", "newest")


def test_a_memory_is_found_as_soon_as_it_is_written(cast: Cast) -> None:
    remember(cast.agent, text="Ticket BENCH-100821 is about src/billing/invoice_utils.py")
    for query in ("100821", "bench 100821", "invoice_utils", "invoice_utils.py"):
        assert len(texts(cast, query)) == 1, query


def test_recall_leaves_out_expired_superseded_and_quarantined_memories(cast: Cast) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        remember(cast.agent, text="fact expired", expires_at="2026-03-03")
        for status in ("superseded", "resolved", "quarantined"):
            made = remember(cast.agent, text=f"fact {status}").memory
            Memory.objects.filter(id=made.id).update(status=status)
        remember(cast.agent, text="fact active")
        clock.shift(timedelta(days=3))
        for query in ("", "fact"):
            assert texts(cast, query) == ["fact active"]
            assert texts(cast, query, status="superseded") == ["fact superseded"]
            assert set(texts(cast, query, status="all")) == {
                "fact active",
                "fact superseded",
                "fact resolved",
            }


def test_recall_covers_the_space_and_the_account_and_nothing_else(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    remember(cast.agent, text="fact here")
    remember(cast.agent, text="fact of all", account_wide=True)
    remember(cast.agent.in_space("other"), text="fact there")
    with tenant(cast.outsider.account_id):
        remember(cast.outsider, text="fact elsewhere")
    for query in ("", "fact"):
        assert sorted(texts(cast, query)) == ["fact here", "fact of all"]
        assert texts(cast, query, scope="account") == ["fact of all"]
        assert texts(cast, query, scope="other") == ["fact there"]
        assert texts(cast, query, scope=typed_id("spc", cast.space.id)) == ["fact here"]
    for unseen in ("nowhere", typed_id("spc", cast.outsider_space.id)):
        with pytest.raises(NotFound):
            texts(cast, scope=unseen)


@pytest.mark.parametrize(
    ("field", "mine", "theirs"),
    [
        ("subject", "An\u00e1", "Ana"),
        ("tier", "scratch", "long"),
        ("kind", "decision", "fact"),
        ("origin", "user", "agent"),
        ("agent", "coder", "tester"),
        ("session", "s1", "s2"),
        ("source_ref", "slack:1", "slack:12"),
    ],
)
def test_a_filter_keeps_to_equal_ones(cast: Cast, field: str, mine: str, theirs: str) -> None:
    remember(cast.agent, text="fact mine", **{field: mine})
    remember(cast.agent, text="fact theirs", **{field: theirs})
    for query in ("", "fact"):
        assert texts(cast, query, **{field: mine}) == ["fact mine"]


def test_subject_and_tag_are_compared_in_one_form(cast: Cast) -> None:
    remember(cast.agent, text="one", subject="Ana\u0301", tags=["cafe\u0301"], topics=["file:a.py"])
    assert texts(cast, subject="An\u00e1", tag="caf\u00e9", topic="file:a.py") == ["one"]
    assert texts(cast, tag="caf") == texts(cast, topic="file:a") == []


def test_trust_is_a_filter(cast: Cast) -> None:
    remember(cast.agent, text="fact of an agent")
    remember(cast.teammate, text="fact of a person")
    assert texts(cast, trust="person") == ["fact of a person"]


def test_paths_are_asked_for_with_all_below_them(cast: Cast) -> None:
    for path in (
        "projects/Apollo",
        "Projects/apollo/notes",
        "projects/apollo2",
        "teams/core/x",
        "teams/core2",
        "",
    ):
        remember(cast.agent, text=f"at {path or 'none'}", path=path)
    assert sorted(texts(cast, path="PROJECTS/apollo")) == ["at Projects/apollo/notes", "at projects/Apollo"]
    assert len(texts(cast, bucket="projects")) == 3
    assert texts(cast, team="core") == ["at teams/core/x"]
    assert texts(cast, bucket="teams", path="projects") == []


def test_dates_are_when_it_was_said_in_the_space_s_time_zone(cast: Cast) -> None:
    cast.space.time_zone = "Asia/Tokyo"
    cast.space.save()
    for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
        remember(cast.agent, text=f"on {day}", occurred_at=f"{day}T00:00")
    assert texts(cast, occurred_from="2026-01-02", occurred_before="2026-01-03") == ["on 2026-01-02"]
    with pytest.raises(ValidationFailed):
        texts(cast, occurred_from="yesterday")


def test_pages_of_the_newest_hold_each_memory_once(cast: Cast) -> None:
    with time_machine.travel(NOW, tick=False):
        for n in range(7):
            remember(cast.agent, text=f"fact {n}")
    seen: list[str] = []
    cursor: str | None = None
    while cursor != "":
        page = find_memories(cast.agent, limit=3, cursor=cursor).page
        seen += [m.text for m in page.items]
        cursor = page.next_token
    assert seen == [f"fact {n}" for n in range(6, -1, -1)]


def test_a_cursor_serves_only_who_got_it_for_what_it_was_given(cast: Cast) -> None:
    for n in range(3):
        remember(cast.agent, text=f"fact {n}")
    cursor = find_memories(cast.agent, limit=1).page.next_token
    for actor, wanted in ((cast.teammate, Wanted()), (cast.agent, Wanted(tag="x"))):
        with pytest.raises(InvalidRequest):
            find_memories(actor, "", wanted, limit=1, cursor=cursor)
    with pytest.raises(InvalidRequest):
        find_memories(cast.agent, "fact", limit=1, cursor=cursor)


def test_every_memory_that_is_told_counts_as_recalled_and_no_version_rises(cast: Cast) -> None:
    for n in range(3):
        remember(cast.agent, text=f"fact {n}")
    with time_machine.travel(NOW, tick=False):
        recalled(cast, "fact", limit=2)
        recalled(cast, "fact 1 and 0")
        recalled(cast, limit=1)
    counts = dict(Memory.objects.values_list("text", "recall_count"))
    assert sum(counts.values()) == 2 + 3 + 1
    assert counts["fact 2"] >= 2
    assert set(Memory.objects.values_list("version", "last_recalled_at")) == {(1, NOW)}


def test_what_was_found_but_not_told_counts_as_no_recall(cast: Cast) -> None:
    for n in range(3):
        remember(cast.agent, text=f"fact {n}")
    recall(cast.agent, told=lambda page: Page([{"text": page.items[0].text}]))
    assert list(Memory.objects.order_by("-created_at", "-id").values_list("recall_count", flat=True)) == [
        1,
        0,
        0,
    ]


def test_finding_counts_no_recall(cast: Cast) -> None:
    remember(cast.agent, text="one")
    texts(cast, "one")
    assert Memory.objects.get().recall_count == 0


@pytest.mark.parametrize("query", ["fact", ""])
def test_a_search_takes_as_many_queries_at_three_results_as_at_one(cast: Cast, query: str) -> None:
    remember(cast.agent, text="fact 0")
    one = queries(lambda: recalled(cast, query))
    for n in (1, 2):
        remember(cast.agent, text=f"fact {n}")
    assert len(recalled(cast, query).page.items) == 3
    assert queries(lambda: recalled(cast, query)) == one


def test_the_core_comes_pinned_first_then_by_weight_then_newest(cast: Cast) -> None:
    remember(cast.agent, text="old", tier="core")
    remember(cast.agent, text="new", tier="core", account_wide=True)
    remember(cast.agent, text="heavy", tier="core", importance=0.9)
    remember(cast.agent, text="pinned", tier="core", pinned=True, importance=0.1)
    remember(cast.agent, text="long", pinned=True)
    assert [m.text for m in core_memories(cast.agent, cast.space)] == ["pinned", "heavy", "new", "old"]
