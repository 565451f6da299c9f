"""Words and meaning together: what is found, in which order, and why."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spaces.domain.embeddings import QueryMeaning
from spaces.domain.search.filters import SearchFilters
from spaces.domain.search.priors import Priors
from spaces.domain.search.ranking import LENT, Candidate, Ranked, search
from spaces.models import EmbeddingModel, Memory, MemoryChunk
from tests.conftest import Cast
from tests.spaces.domain.search.engine import give_vectors, make_model, meaning_of, put_vectors
from tests.spaces.domain.search.memories import store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside")]
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def model(cast: Cast) -> EmbeddingModel:
    return make_model()


def write(cast: Cast, model: EmbeddingModel, *texts: str, **given: Any) -> list[Memory]:
    memories = store(cast.agent, cast.space, *texts, **given)
    give_vectors(model, memories)
    return memories


def ranked(
    cast: Cast, query: str, model: EmbeddingModel | None = None, limit: int = 20, **filters: Any
) -> Ranked:
    meaning = meaning_of(model, query) if model else QueryMeaning()
    return search(cast.agent, query, meaning, filters=SearchFilters(**filters), limit=limit, explain=True)


def texts(found: Ranked) -> list[str]:
    by_id = Memory.objects.in_bulk(found.ids)
    return [by_id[id].text for id in found.ids]


def test_a_memory_is_found_by_words_by_meaning_and_best_by_both(cast: Cast, model: EmbeddingModel) -> None:
    write(
        cast, model, "The puppy sleeps upstairs", "The animal budget", "Which puppy animal?!", "Tea at four"
    )
    found = ranked(cast, "which animal", model)
    assert found.mode == "hybrid"
    assert texts(found)[0] == "Which puppy animal?!"
    assert set(texts(found)[1:]) == {"The animal budget", "The puppy sleeps upstairs"}


def test_the_parts_of_every_score_add_up(cast: Cast, model: EmbeddingModel) -> None:
    write(
        cast, model, "Yesterday the dog ate the report", "And then?", "Ana fed the dog",
        agent="ana", session="s1",
    )  # fmt: skip
    hits = ranked(cast, "when did ana feed the dog", model).hits
    assert len(hits) == 3
    for hit in hits:
        parts = hit.by_words + hit.by_meaning + hit.neighbour
        parts += sum(getattr(hit.priors, field.name) for field in fields(Priors))
        assert hit.score == pytest.approx(parts)
        assert hit.by_words == pytest.approx(0.5 * hit.words)
        assert hit.by_meaning == pytest.approx(0.5 * (hit.cosine or 0))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_both_legs_score_what_only_one_of_them_found(cast: Cast, model: EmbeddingModel) -> None:
    many = write(cast, model, *(f"dog {n}" for n in range(60)))
    [worded] = write(cast, model, "animal espresso")
    found = {hit.id: hit for hit in ranked(cast, "animal", model, limit=100).hits}
    assert found[worded.id].words > 0
    assert found[worded.id].cosine is not None
    assert all(found[memory.id].words == 0 for memory in many if memory.id in found)


def test_a_score_does_not_depend_on_what_else_is_found(cast: Cast, model: EmbeddingModel) -> None:
    [memory] = write(cast, model, "The dog likes biscuit")
    [before] = ranked(cast, "zzz dog", model).hits
    write(cast, model, *(f"Release {n}: ship it" for n in range(30)))
    after = {hit.id: hit for hit in ranked(cast, "zzz dog", model).hits}[memory.id]
    assert (after.cosine, after.priors, after.neighbour) == (before.cosine, before.priors, 0)


def test_nothing_relevant_is_told_by_finding_nothing(cast: Cast, model: EmbeddingModel) -> None:
    write(cast, model, "The dog is called Biscuit", "Espresso machine")
    assert ranked(cast, "database replica", model).hits == []


def test_an_edit_moves_the_meaning(cast: Cast, model: EmbeddingModel) -> None:
    from spaces.domain.embeddings import embed_later
    from spaces.domain.search.indexing import index_fields

    [memory] = write(cast, model, "Office dog is called Biscuit")
    memory.text, memory.version = "Database needs 40 seconds", 2
    for name, value in index_fields(memory, cast.space).items():
        setattr(memory, name, value)
    memory.save()
    embed_later([memory])
    assert MemoryChunk.objects.count() == 0
    assert texts(ranked(cast, "which animal", model)) == []
    assert texts(ranked(cast, "database", model)) == [memory.text]
    give_vectors(model, [memory])
    assert texts(ranked(cast, "which animal", model)) == []
    assert texts(ranked(cast, "how long for the failover", model)) == [memory.text]


def test_without_a_vector_of_its_own_a_memory_is_ranked_by_words_alone(
    cast: Cast, model: EmbeddingModel
) -> None:
    write(cast, model, "Tea for the dog", "Coffee")
    store(cast.agent, cast.space, "The dog likes biscuit")
    hits = {texts(Ranked([hit]))[0]: hit for hit in ranked(cast, "dog biscuit", model).hits}
    fresh = hits["The dog likes biscuit"]
    assert (fresh.cosine, fresh.by_meaning, fresh.by_words) == (None, 0, fresh.words)
    assert fresh.score > hits["Tea for the dog"].score


def test_without_a_model_search_is_by_words(cast: Cast, model: EmbeddingModel) -> None:
    write(cast, model, "The dog is called Biscuit", "The puppy")
    found = ranked(cast, "dog")
    assert (texts(found), found.mode) == (["The dog is called Biscuit"], "words")


def test_vectors_of_another_model_count_for_nothing(cast: Cast, model: EmbeddingModel) -> None:
    building = make_model(state="building", fingerprint="0" * 64)
    [memory] = write(cast, model, "The dog is called Biscuit")
    found = ranked(cast, "dog", building).hits
    assert [(hit.id, hit.cosine) for hit in found] == [(memory.id, None)]
    assert ranked(cast, "animal", building).hits == []


def test_the_end_of_a_text_of_8000_characters_is_found_once(cast: Cast, model: EmbeddingModel) -> None:
    filler = "Part {0} of the work went well, and nobody had to stay late for any of it. "
    long = "".join(filler.format(n) for n in range(120))[:7960] + "\nThe puppy sleeps under the desk."
    [memory] = write(cast, model, long)
    assert MemoryChunk.objects.count() > 5
    assert ranked(cast, "which animal", model).ids == [memory.id]
    assert ranked(cast, "desk", model).ids == [memory.id]


@pytest.mark.parametrize("query", ["which animal", "dog"])
def test_filters_hold_in_both_legs(cast: Cast, model: EmbeddingModel, query: str) -> None:
    write(cast, model, *(f"The dog {n}" for n in range(120)))
    [rare] = write(cast, model, "Our dog", tags=["rare"])
    write(cast, model, "Their dog", tags=["rare"], expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    write(cast, model, "Old dog", tags=["rare"], status="superseded")
    write(cast, model, "Bad dog", tags=["rare"], status="quarantined")
    assert ranked(cast, query, model, tags=("rare",)).ids == [rare.id]


def test_another_teams_memories_are_never_found(cast: Cast, model: EmbeddingModel) -> None:
    write(cast, model, "The dog is called Biscuit")
    meaning = meaning_of(model, "dog")
    assert search(cast.outsider, "dog", meaning).hits == []


def test_who_is_named_in_the_question_comes_first(cast: Cast, model: EmbeddingModel) -> None:
    [bob] = write(cast, model, "I like the dog most", agent="bob")
    [ana] = write(cast, model, "I like the dog most", agent="ana")
    hits = ranked(cast, "Does Ana like it?", model).hits
    assert hits[0].id == ana.id
    assert hits[0].priors.named > 0
    assert [hit.priors.named for hit in hits if hit.id == bob.id] in ([], [0])


def test_a_question_for_a_time_prefers_what_tells_one(cast: Cast, model: EmbeddingModel) -> None:
    write(cast, model, "The deploy went out and all was well", "The deploy went out at 14:30 and was well")
    first, second = ranked(cast, "When was the deploy?", model).hits
    assert (first.priors.time > 0, second.priors.time) == (True, 0)
    assert [hit.priors.time for hit in ranked(cast, "deploy", model).hits] == [0, 0]


def session_of(cast: Cast, model: EmbeddingModel, *lines: str, session: str = "s1") -> list[Memory]:
    return [
        write(cast, model, line, session=session, occurred_at=NOW + timedelta(minutes=n))[0]
        for n, line in enumerate(lines)
    ]


def test_what_stands_next_to_a_match_in_its_session_is_lifted(cast: Cast, model: EmbeddingModel) -> None:
    first, asked, answer, last = session_of(
        cast, model, "Hello", "How is the dog doing?", "Well, since Tuesday", "Bye"
    )
    hits = {hit.id: hit for hit in ranked(cast, "dog", model).hits}
    assert set(hits) == {first.id, asked.id, answer.id}
    assert hits[answer.id].neighbour == pytest.approx(LENT * hits[asked.id].worth)
    assert hits[asked.id].neighbour == 0
    assert last.id not in hits


def test_neighbours_keep_to_filters_sessions_and_spaces(cast: Cast, model: EmbeddingModel) -> None:
    [asked, expired] = session_of(cast, model, "How is the dog doing?", "Well")
    Memory.objects.filter(id=expired.id).update(expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    session_of(cast, model, "Elsewhere", session="s2")
    write(cast, model, "Alone")
    store(cast.agent, None, "Of all", session="s1", occurred_at=NOW - timedelta(minutes=1))
    assert ranked(cast, "dog", model).ids == [asked.id]


@pytest.mark.parametrize("query", ["", "   ", "\u200b", "what is it about the"])
def test_a_query_that_asks_for_nothing_gives_the_newest(
    cast: Cast, model: EmbeddingModel, query: str
) -> None:
    [memory] = write(cast, model, "Tea")
    found = ranked(cast, query, model)
    assert (found.mode, found.ids, found.hits) == ("newest", [memory.id], [])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.one_of(st.text(max_size=200), st.text(alphabet="'\"%_\\&|!():*<->@\t\n", max_size=60)))
def test_any_text_is_a_query(cast: Cast, model: EmbeddingModel, query: str) -> None:
    if "\x00" not in query and not any("\ud800" <= c <= "\udfff" for c in query):
        assert ranked(cast, query, model).mode in ("hybrid", "newest")


def test_length_counts_in_a_session_alone(cast: Cast, model: EmbeddingModel) -> None:
    long = "The dog is called Biscuit and sleeps below the desk of whoever is in first" * 2
    alone = write(cast, model, "Dog", long)
    short_turn, long_turn = write(cast, model, "dog!", f"{long}!", session="s1")
    found = {hit.id: hit.priors.length for hit in ranked(cast, "dog", model).hits}
    assert [found[memory.id] for memory in alone] == [0, 0]
    assert found[short_turn.id] < 0 < found[long_turn.id]


def test_ties_are_ordered_by_age(cast: Cast, model: EmbeddingModel) -> None:
    made: list[UUID] = []
    for n in range(3):
        [memory] = store(cast.agent, cast.space, "dog", created_at=NOW + timedelta(minutes=n))
        give_vectors(model, [memory])
        made.append(memory.id)
    assert ranked(cast, "dog", model).ids == made[::-1]


def test_a_hit_tells_the_words_it_was_found_by(cast: Cast, model: EmbeddingModel) -> None:
    write(cast, model, "The Deploy window is open", "Ship it")
    met = {texts(Ranked([hit]))[0]: hit.met for hit in ranked(cast, "deploy windows", model).hits}
    assert met == {"The Deploy window is open": ("deploy", "windows"), "Ship it": ()}


def test_a_cosine_far_below_nought_is_not_clipped(cast: Cast, model: EmbeddingModel) -> None:
    [memory] = store(cast.agent, cast.space, "dog")
    put_vectors(model, memory, [-meaning_of(model, "dog").vector])  # type: ignore[operator]
    [hit] = ranked(cast, "dog", model).hits
    assert hit.cosine == pytest.approx(-1, abs=1e-3)
    assert hit.score < hit.by_words


def test_a_candidate_that_lends_is_worth_only_its_own_words_and_meaning() -> None:
    candidate = Candidate(UUID(int=1), 0.0, "", 0.4, Priors(named=0.07), cosine=0.2, similarity=0.5)
    assert replace(candidate, neighbour=0.1).worth == pytest.approx(0.3)
    assert replace(candidate, neighbour=0.1).score == pytest.approx(0.47)
