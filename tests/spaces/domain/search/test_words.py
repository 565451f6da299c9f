"""Search by words, in the database and as the application's login."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import F, Func, Value
from django.utils import timezone
from pgvector import SparseVector
from pytest_django import DjangoAssertNumQueries

from accounts.actor import Actor
from memoryhub.common.tenancy import tenant
from spaces.domain.search import frequencies, words
from spaces.domain.search.bm25 import query_weights
from spaces.domain.search.filters import SearchFilters
from spaces.domain.search.indexing import index_fields
from spaces.domain.search.lexemes import inside, lexemes_of, space_lexeme, to_tsquery_literal
from spaces.domain.search.tokens import query_words
from spaces.domain.spaces import create_space
from spaces.models import Memory, Space
from tests.calls import as_owner
from tests.conftest import Cast
from tests.spaces.domain.search.by_words import search_words
from tests.spaces.domain.search.memories import store

FACTS = [
    "Ticket BENCH-100821 blocks the release",
    "The runner stops with exit code -32602 when arguments are missing",
    "There is a bug in src/billing/invoice_utils.py line 42",
    "To load a person, see getUserById()",
    "The fix is in PR #4521",
    "For access ask ann@example.com",
    "The server runs v1.2.10 since Monday",
    "Ana writes C++ every day",
    "Ana writes C# every day",
    "Ana writes .NET every day",
    "Deploy window is Tuesday 14:00 UTC",
    "Zürich office",
    "İstanbul ofisi",
    "部署窗口是周二下午",
    "会議は火曜日",
    "اجتماع الفريق يوم الثلاثاء",
    "הישיבה ביום שלישי",
    "Shipped on time 👍",
]
ANSWERS = {
    "100821": FACTS[0],
    "bench 100821": FACTS[0],
    "BENCH-100821": FACTS[0],
    "32602": FACTS[1],
    "-32602": FACTS[1],
    "invoice_utils.py": FACTS[2],
    "invoice_utils": FACTS[2],
    "src/billing/invoice_utils.py": FACTS[2],
    "UserById": FACTS[3],
    "getUserById": FACTS[3],
    "PR #4521": FACTS[4],
    "4521": FACTS[4],
    "ann": FACTS[5],
    "ann@example.com": FACTS[5],
    "v1.2.10": FACTS[6],
    "1.2.10": FACTS[6],
    "C++": FACTS[7],
    "C#": FACTS[8],
    ".NET": FACTS[9],
    "why did we choose the deploy window": FACTS[10],
    "Zurich": FACTS[11],
    "ZÜRICH": FACTS[11],
    "İstanbul": FACTS[12],
    "istanbul": FACTS[12],
    "部署": FACTS[13],
    "周二": FACTS[13],
    "docker 部署": FACTS[13],
    "火曜": FACTS[14],
    "火曜の会議": FACTS[14],
    "اجتماع": FACTS[15],
    "שלישי": FACTS[16],
    "👍": FACTS[17],
}


def texts(actor: Actor, query: str, limit: int = 20, **filters: Any) -> list[str]:
    found = search_words(actor, query, filters=SearchFilters(**filters), limit=limit)
    by_id = Memory.objects.in_bulk([match.id for match in found.matches])
    return [by_id[match.id].text for match in found.matches]


@pytest.mark.usefixtures("inside")
def test_what_a_person_would_type_finds_the_right_fact_first(cast: Cast) -> None:
    store(cast.agent, cast.space, *FACTS)
    assert {query: texts(cast.agent, query)[:1] for query in ANSWERS} == {q: [a] for q, a in ANSWERS.items()}


@pytest.mark.usefixtures("inside")
def test_c_plus_plus_does_not_find_c_sharp(cast: Cast) -> None:
    store(cast.agent, cast.space, *FACTS)
    assert texts(cast.agent, "C++") == [FACTS[7]]
    assert texts(cast.agent, "C#") == [FACTS[8]]


@pytest.mark.usefixtures("inside")
def test_any_word_may_match_and_more_of_them_rank_higher(cast: Cast) -> None:
    store(cast.agent, cast.space, "Deploy on Friday", "Lunch on Friday", "The deploy window is Tuesday")
    assert texts(cast.agent, "deploy window") == ["The deploy window is Tuesday", "Deploy on Friday"]


@pytest.mark.usefixtures("inside")
def test_subject_tags_topics_path_source_actor_space_and_date_are_searched_too(cast: Cast) -> None:
    [memory] = store(
        cast.agent,
        cast.space,
        "It is blue",
        subject="Logo",
        tags=["branding"],
        topics=["service:website"],
        path="projects/acme/design",
        source_ref="slack:C042",
        agent="codex",
        occurred_at=datetime(2023, 5, 8, 12, tzinfo=UTC),
    )
    for query in (
        "logo",
        "branding",
        "website",
        "acme design",
        "C042",
        "codex",
        "main",
        "May 2023",
        "monday",
    ):
        assert [match.id for match in search_words(cast.agent, query).matches] == [memory.id], query


@pytest.mark.usefixtures("inside")
def test_a_match_tells_its_score_and_the_words_it_met(cast: Cast) -> None:
    store(cast.agent, cast.space, "The deploy window is Tuesday", "Something else")
    [known] = search_words(cast.agent, "What is the Deploy-Window?").matches
    [with_a_stranger] = search_words(cast.agent, "What is the deploy-window of kubernetes?").matches
    assert known.terms == ("Deploy-Window",)
    assert 0 < with_a_stranger.score < known.score < 1


@pytest.mark.usefixtures("inside")
def test_equal_matches_come_newest_first(cast: Cast) -> None:
    now = timezone.now()
    ages = [
        store(cast.agent, cast.space, "tea", created_at=now - timedelta(days=age))[0].id for age in range(3)
    ]
    assert [match.id for match in search_words(cast.agent, "tea").matches] == ages


@pytest.mark.parametrize("query", ["", "   ", "\n", "\u200b"])
@pytest.mark.usefixtures("inside")
def test_an_empty_query_asks_for_the_newest(cast: Cast, query: str) -> None:
    now = timezone.now()
    for age, text in enumerate(["new", "older", "oldest"]):
        store(cast.agent, cast.space, text, created_at=now - timedelta(days=age))
    assert search_words(cast.agent, query).mode == "newest"
    assert texts(cast.agent, query, limit=2) == ["new", "older"]


@pytest.mark.usefixtures("inside")
def test_stop_words_alone_are_searched_and_else_ask_for_the_newest(cast: Cast) -> None:
    store(cast.agent, cast.space, "Song: What is it about", "Tea")
    assert texts(cast.agent, "what is it about the") == ["Song: What is it about"]
    assert search_words(cast.agent, "what is it about the").mode == "words"
    assert set(texts(cast.agent, "whose were they")) == {"Song: What is it about", "Tea"}
    assert search_words(cast.agent, "whose were they").mode == "newest"


@pytest.mark.parametrize("query", ["???", "&|!()", "👎", "xyzzy"])
@pytest.mark.usefixtures("inside")
def test_what_nothing_holds_finds_nothing(cast: Cast, query: str) -> None:
    store(cast.agent, cast.space, *FACTS)
    found = search_words(cast.agent, query)
    assert (found.matches, found.mode) == ([], "words")


@pytest.mark.parametrize(
    "query",
    [
        "deploy & window | !tuesday <-> (",
        "'deploy' \"window\" \\ :* :A",
        "deploy%' or 1=1 --",
        "deploy\x00window",
        "deploy \ud83d window",
        "@" + "0" * 32 + " deploy",
        "deploy " * 4_000,
        "deploy " + " ".join(sha256(str(n).encode()).hexdigest() for n in range(500)),
        "deploy/" + "/".join(f"a{n}" for n in range(5_000)),
    ],
)
@pytest.mark.usefixtures("inside")
def test_any_text_is_a_query(cast: Cast, query: str) -> None:
    store(cast.agent, cast.space, "Deploy window is Tuesday 14:00 UTC")
    assert texts(cast.agent, query) == ["Deploy window is Tuesday 14:00 UTC"]


@pytest.mark.usefixtures("inside")
def test_a_text_of_forty_thousand_hashes_is_stored_and_found(cast: Cast) -> None:
    hashes = [sha256(str(n).encode()).hexdigest() for n in range(40_000)]
    [memory] = store(cast.agent, cast.space, " ".join(hashes))
    assert [match.id for match in search_words(cast.agent, hashes[0]).matches] == [memory.id]


@pytest.mark.usefixtures("inside")
def test_an_edit_is_found_by_its_new_words_alone(cast: Cast) -> None:
    [memory] = store(cast.agent, cast.space, "Office dog is called Biscuit")
    memory.text = "Database failover takes 40 seconds"
    changes = {"text": memory.text, **index_fields(memory, cast.space)}
    Memory.objects.filter(id=memory.id).update(**changes)
    assert texts(cast.agent, "biscuit") == []
    assert texts(cast.agent, "failover") == ["Database failover takes 40 seconds"]


@pytest.mark.usefixtures("inside")
def test_what_may_not_be_found_takes_no_place_of_what_may(cast: Cast) -> None:
    now = timezone.now()
    better = ["Deploy deploy window window"] * 30
    store(cast.agent, cast.space, *better, expires_at=now)
    store(cast.agent, cast.space, *better, status="superseded")
    store(cast.agent, cast.space, *better, status="quarantined")
    with tenant(cast.outsider.account_id):
        store(cast.outsider, cast.outsider_space, *better)
    fact = "One more fact in which the deploy window is named only once and in passing"
    store(cast.agent, cast.space, fact)
    assert texts(cast.agent, "deploy window", limit=1) == [fact]


@pytest.mark.usefixtures("inside")
def test_pinned_memories_do_not_expire(cast: Cast) -> None:
    store(cast.agent, cast.space, "deploy", expires_at=timezone.now() - timedelta(days=1), pinned=True)
    assert texts(cast.agent, "deploy") == ["deploy"]


@pytest.mark.usefixtures("inside")
def test_only_spaces_the_actor_reads_are_searched(cast: Cast) -> None:
    board = create_space(cast.owner, name="Board", slug="board", visibility="members")
    store(cast.owner, board, "secret deploy")
    store(cast.owner, cast.space, "main deploy")
    store(cast.owner, None, "account deploy")
    everything = {"secret deploy", "main deploy", "account deploy"}
    assert set(texts(cast.owner, "deploy")) == everything
    assert set(texts(cast.teammate, "deploy")) == everything - {"secret deploy"}
    narrow = replace(cast.owner, space_ids=frozenset([board.id]))
    assert set(texts(narrow, "deploy")) == everything - {"main deploy"}


def _spaces(space: Space, other: Space) -> dict[str, tuple[dict[str, Any], set[str]]]:
    return {
        "a space and the account": ({"spaces": frozenset([space.id])}, {"main", "account"}),
        "a space": ({"spaces": frozenset([space.id]), "account_wide": False}, {"main"}),
        "the account": ({"spaces": frozenset[UUID]()}, {"account"}),
        "every space": ({"account_wide": False}, {"main", "other"}),
        "everything": ({}, {"main", "other", "account"}),
        "another space": ({"spaces": frozenset([other.id])}, {"other", "account"}),
    }


@pytest.mark.usefixtures("inside")
def test_spaces_can_be_chosen(cast: Cast) -> None:
    other = create_space(cast.owner, name="Other", slug="other")
    for space, name in ((cast.space, "main"), (other, "other"), (None, "account")):
        store(cast.owner, space, f"deploy {name}")
    for what, (filters, expected) in _spaces(cast.space, other).items():
        assert {text.split()[1] for text in texts(cast.owner, "deploy", **filters)} == expected, what


@pytest.mark.usefixtures("inside")
def test_what_is_rare_is_rare_in_the_spaces_that_are_searched(cast: Cast) -> None:
    other = create_space(cast.owner, name="Other", slug="other")
    store(cast.owner, cast.space, *["kubernetes"] * 20, "kubernetes tea", "tea")
    store(cast.owner, other, *["tea"] * 40)
    inside = {"spaces": frozenset([cast.space.id])}
    [both, tea, *rest] = texts(cast.owner, "kubernetes tea", **inside)
    assert (both, tea, {*rest}) == ("kubernetes tea", "tea", {"kubernetes"})
    store(cast.owner, None, *["tea"] * 40)
    [both, next_best, *_] = texts(cast.owner, "kubernetes tea", **inside)
    assert (both, next_best) == ("kubernetes tea", "kubernetes")


@pytest.mark.usefixtures("inside")
def test_words_of_other_spaces_are_not_even_looked_at(cast: Cast) -> None:
    other = create_space(cast.owner, name="Other", slug="other")
    store(cast.owner, other, *["deploy"] * 30)
    store(cast.owner, cast.space, "deploy here")
    with connection.cursor() as cursor:
        query = to_tsquery_literal(["deploy"])
        cursor.execute("select count(*) from hub_find_memories(%s)", [inside(query, [cast.space.id])])
        assert cursor.fetchone() == (1,)
        cursor.execute("select count(*) from hub_find_memories(%s)", [inside(query, None)])
        assert cursor.fetchone() == (31,)


@pytest.mark.usefixtures("inside")
def test_what_was_written_before_vectors_held_their_space_is_given_it(cast: Cast) -> None:
    stored = [*store(cast.owner, cast.space, "deploy"), *store(cast.owner, None, "deploy")]
    now = {memory.id: memory.search_vector for memory in Memory.objects.all()}
    for memory in stored:
        place = space_lexeme(memory.space_id)
        Memory.objects.filter(id=memory.id).update(
            search_vector=Func(F("search_vector"), Value(place), function="ts_delete")
        )
    assert now != {memory.id: memory.search_vector for memory in Memory.objects.all()}
    [step] = import_module("spaces.migrations.0013_words_of_a_space").Migration.operations
    with connection.cursor() as cursor:
        cursor.execute(step.sql)
    assert now == {memory.id: memory.search_vector for memory in Memory.objects.all()}


@pytest.mark.parametrize(
    ("fields", "filters"),
    [
        ({"kind": "decision"}, {"kinds": ("decision", "note")}),
        ({"tier": "core"}, {"tiers": ("core",)}),
        ({"status": "resolved"}, {"statuses": ("resolved",)}),
        ({"origin": "user"}, {"origins": ("user",)}),
        ({"trust": "person"}, {"trusts": ("person",)}),
        ({"tags": ["a", "b"]}, {"tags": ("a", "b")}),
        ({"tags": ["caf\u00e9"]}, {"tags": ("cafe\u0301",)}),
        ({"topics": ["file:x.py"]}, {"topics": ("file:x.py",)}),
        ({"subject": "Ana"}, {"subject": "Ana"}),
        ({"path": "projects/Acme"}, {"paths": ("projects/acme",)}),
        ({"path": "projects/acme/api"}, {"paths": ("projects/acme", "projects")}),
        ({"source_ref": "x#1"}, {"source_ref": "x#1"}),
        ({"agent": "codex"}, {"agent": "codex"}),
        ({"session": "s1"}, {"session": "s1"}),
        (
            {"occurred_at": datetime(2023, 5, 8, tzinfo=UTC)},
            {"said_before": datetime(2023, 5, 9, tzinfo=UTC)},
        ),
        ({"occurred_at": datetime(2033, 5, 8, tzinfo=UTC)}, {"said_from": datetime(2033, 5, 8, tzinfo=UTC)}),
    ],
)
@pytest.mark.usefixtures("inside")
def test_filters_let_through_what_fits(cast: Cast, fields: dict[str, Any], filters: dict[str, Any]) -> None:
    store(cast.agent, cast.space, "deploy", path="projects/acme-old", tags=["a"])
    [fitting] = store(cast.agent, cast.space, "deploy", **fields)
    for query in ("deploy", ""):
        found = search_words(cast.agent, query, filters=SearchFilters(**filters))
        assert [match.id for match in found.matches] == [fitting.id]


def _scanned(account_id: UUID, query: str) -> list[UUID]:
    """The same ranking by reading every memory of the account, in plain Python."""
    rows = list(Memory.objects.filter(account_id=account_id).select_related("space"))
    fields = {row.id: index_fields(row, row.space) for row in rows}
    held = [lexemes_of(each["search_vector"]) for each in fields.values()]
    asked = query_words(query)
    counts = {lexeme: sum(lexeme in one for one in held) for word in asked for lexeme in word.telling}
    weights = query_weights(asked, counts, len(rows))
    scores = {id: _product(weights, each["search_weights"]) for id, each in fields.items()}
    ranked = sorted(rows, key=lambda row: (scores[row.id], row.created_at, row.id), reverse=True)
    return [row.id for row in ranked if scores[row.id] > 0]


def _product(one: SparseVector, other: SparseVector) -> float:
    others = dict(zip(other.indices(), other.values(), strict=True))
    return sum(value * others.get(at, 0.0) for at, value in zip(one.indices(), one.values(), strict=True))


@pytest.mark.usefixtures("inside")
def test_a_small_team_beside_a_big_one_gets_exactly_what_a_scan_gives(cast: Cast) -> None:
    store(cast.agent, cast.space, *(f"The deploy window number {n} is on day {n % 7}" for n in range(300)))
    with tenant(cast.outsider.account_id):
        store(cast.outsider, cast.outsider_space, *FACTS, *(f"Team fact {n} on deploys" for n in range(20)))
        for query in ("deploy window", "team fact 7", "Ana writes", "tuesday 火曜 release"):
            found = search_words(cast.outsider, query, limit=50)
            assert [match.id for match in found.matches] == _scanned(cast.outsider.account_id, query)


@pytest.mark.django_db(transaction=True)
def test_the_index_is_read_although_rows_are_guarded(cast: Cast) -> None:
    with tenant(cast.account.id):
        store(cast.agent, cast.space, *(f"fact {n}" for n in range(300)))
    as_owner("analyze spaces_memory")  # what is known of the table is not what other tests left in it

    with tenant(cast.account.id):
        before = _index_scans()
        plain = SearchQuery("'7'", search_type="raw", config="simple")
        assert [memory.text for memory in Memory.objects.filter(search_vector=plain)] == ["fact 7"]
        assert _index_scans() == before  # what the functions are for
        assert texts(cast.agent, "fact 7")[0] == "fact 7"
        assert _index_scans() > before


def _index_scans() -> int:
    with connection.cursor() as cursor:
        cursor.execute("select current_user, pg_stat_get_xact_numscans('memory_words'::regclass)")
        role, scans = cursor.fetchone()
    assert role == "hub_app"
    return int(scans)


@pytest.mark.usefixtures("inside")
def test_the_functions_know_no_account_but_the_one_in_force(cast: Cast) -> None:
    store(cast.agent, cast.space, "deploy")
    with connection.cursor() as cursor:
        count = "select hub_count_memories(array['deploy', %s, '']::tsquery[])"
        cursor.execute(count, [f"'@{cast.account.id.hex}' | deploy"])
        assert cursor.fetchone()[0] == [1, 1, 1]
        with tenant(cast.outsider.account_id):
            cursor.execute(count, [f"'@{cast.account.id.hex}' | deploy"])
            assert cursor.fetchone()[0] == [0, 0, 0]
            cursor.execute("select hub_find_memories('deploy')")
            assert cursor.fetchall() == []
        cursor.execute("select set_config('hub.account_id', '', true)")
        cursor.execute(count, ["deploy"])
        assert cursor.fetchone()[0] == [0, 0, 0]


@pytest.mark.django_db
@pytest.mark.parametrize("function", ["hub_find_memories(tsquery)", "hub_count_memories(tsquery[])"])
def test_nobody_else_may_call_the_functions(function: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select prosecdef, array(select grantee::regrole::text from aclexplode(proacl) order by 1)"
            " from pg_proc where oid = %s::regprocedure",
            [function],
        )
        assert cursor.fetchone() == (True, ["hub_app", "hub_owner"])


@pytest.mark.usefixtures("inside")
def test_the_number_of_queries_does_not_grow(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store(cast.agent, cast.space, "deploy")
    with django_assert_num_queries(3):
        search_words(cast.agent, "deploy window tuesday")
    store(cast.agent, cast.space, *(f"deploy window {n}" for n in range(50)))
    with django_assert_num_queries(3):
        search_words(cast.agent, "deploy window tuesday", limit=50)


@pytest.mark.usefixtures("inside")
def test_what_the_filters_leave_none_of_is_looked_for_once(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store(cast.agent, cast.space, "deploy")
    with django_assert_num_queries(2):
        assert search_words(cast.agent, "deploy", filters=SearchFilters(tags=("none",))).matches == []


@pytest.mark.usefixtures("inside")
def test_common_words_are_counted_once_and_new_words_found_at_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(frequencies, "COMMON", 3)
    store(cast.agent, cast.space, *["deploy"] * 3)
    search_words(cast.agent, "deploy")
    with django_assert_num_queries(2):
        search_words(cast.agent, "deploy")
    assert texts(cast.agent, "kubernetes") == []
    store(cast.agent, cast.space, "kubernetes")
    assert texts(cast.agent, "kubernetes") == ["kubernetes"]
    store(cast.agent, cast.space, "deploy again")
    assert set(texts(cast.agent, "deploy")) == {"deploy", "deploy again"}


@pytest.mark.usefixtures("inside")
def test_common_words_are_left_out_of_the_search_but_count_in_the_ranking(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "EXPECTED_MATCHES", 3)
    store(cast.agent, cast.space, *["deploy now"] * 5, "window", "deploy window", "tea")
    assert texts(cast.agent, "deploy window", limit=2) == ["deploy window", "window"]
    assert texts(cast.agent, "deploy window", limit=20)[2:] == ["deploy now"] * 5


@pytest.mark.usefixtures("inside")
def test_filters_that_leave_little_bring_the_common_words_back(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "EXPECTED_MATCHES", 3)
    store(cast.agent, cast.space, *["deploy now"] * 5, "deploy window")
    store(cast.agent, cast.space, "deploy later", kind="decision")
    assert texts(cast.agent, "deploy window", kinds=("decision",)) == ["deploy later"]
