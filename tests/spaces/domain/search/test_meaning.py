"""The nearest by meaning, in the database and as the application's login."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.utils import timezone

from memoryhub.common.tenancy import tenant
from spaces.domain.search import sizes
from spaces.domain.search.filters import SearchFilters
from spaces.domain.search.finding import search_meaning
from spaces.domain.search.sizes import Route, route
from spaces.domain.spaces import create_space
from spaces.embedding.base import Vector, normalised
from spaces.models import EmbeddingModel, Memory
from tests.conftest import Cast
from tests.spaces.domain.search.engine import TopicEngine, give_vectors, make_model, put_vectors
from tests.spaces.domain.search.memories import store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known_sizes")]


@pytest.fixture
def known_sizes() -> None:
    sizes.forget_sizes()


@pytest.fixture
def model(cast: Cast) -> EmbeddingModel:
    return make_model()


def directions(count: int, dimensions: int = 16, seed: int = 1) -> list[Vector]:
    made = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return [normalised(vector) for vector in made]


def fill(cast: Cast, model: EmbeddingModel, vectors: Sequence[Vector], **fields: Any) -> list[Memory]:
    memories = store(cast.agent, cast.space, *(f"fact {n}" for n in range(len(vectors))), **fields)
    for memory, vector in zip(memories, vectors, strict=True):
        put_vectors(model, memory, [vector])
    return memories


def exact(memories: Sequence[Memory], vectors: Sequence[Vector], question: Vector, limit: int) -> list[UUID]:
    cosines = np.array(vectors, np.float16).astype(np.float32) @ question
    return [memories[i].id for i in np.argsort(-cosines)[:limit]]


def near(cast: Cast, model: EmbeddingModel, question: Vector, limit: int = 5, **filters: Any) -> list[UUID]:
    return list(search_meaning(cast.agent, model, question, filters=SearchFilters(**filters), limit=limit))


@pytest.mark.usefixtures("inside")
def test_what_means_the_same_is_nearest_without_a_common_word(cast: Cast, model: EmbeddingModel) -> None:
    pet, other = store(cast.agent, cast.space, "The dog is called Biscuit", "Coffee is in the kitchen")
    give_vectors(model, [pet, other])
    [question] = TopicEngine().embed(["which animal"], "query")
    found = search_meaning(cast.agent, model, question)
    assert list(found) == [pet.id, other.id]
    assert found[pet.id] > 0.9 > 0.2 > found[other.id]


@pytest.mark.parametrize("way", [Route.EXACT, Route.BITS])
@pytest.mark.usefixtures("inside")
def test_every_route_gives_what_comparing_everything_gives(
    cast: Cast, model: EmbeddingModel, way: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way is Route.BITS:
        monkeypatch.setattr(sizes, "EXACT_UP_TO", 10)
    vectors, [question] = directions(300), directions(1, seed=2)
    memories = fill(cast, model, vectors)
    assert route(cast.account.id, model) is way
    assert near(cast, model, question, 20) == exact(memories, vectors, question, 20)


@pytest.mark.usefixtures("inside")
def test_wide_vectors_are_found_by_their_bits(cast: Cast) -> None:
    model = make_model(dimensions=1536)
    vectors, [question] = directions(50, 1536), directions(1, 1536, seed=2)
    memories = fill(cast, model, vectors)
    assert route(cast.account.id, model) is Route.BITS
    assert near(cast, model, question, 5) == exact(memories, vectors, question, 5)


@pytest.mark.parametrize("way", [Route.EXACT, Route.BITS])
@pytest.mark.usefixtures("inside")
def test_filters_apply_before_the_cut_however_far_away_what_they_leave_is(
    cast: Cast, model: EmbeddingModel, way: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way is Route.BITS:
        monkeypatch.setattr(sizes, "EXACT_UP_TO", 10)
        monkeypatch.setattr("spaces.domain.search.meaning.BITS_DEPTH", 20)
    [question] = directions(1, seed=2)
    close = [normalised(question + 0.1 * vector) for vector in directions(200)]
    far = [normalised(vector - question) for vector in directions(8, seed=3)]
    fill(cast, model, close)
    tagged = fill(cast, model, far, tags=["rare"])
    assert near(cast, model, question, 5, tags=("rare",)) == exact(tagged, far, question, 5)


@pytest.mark.usefixtures("inside")
def test_expired_superseded_quarantined_and_unreadable_memories_fill_no_place(
    cast: Cast, model: EmbeddingModel
) -> None:
    [question] = directions(1, seed=2)
    ends = timezone.now() - timedelta(days=1)
    hidden = create_space(cast.owner, name="Hidden", slug="hidden", visibility="members")
    for fields in ({"expires_at": ends}, {"status": "superseded"}, {"status": "quarantined"}):
        fill(cast, model, [question] * 30, **fields)
    for memory in store(cast.owner, hidden, *(f"secret {n}" for n in range(30))):
        put_vectors(model, memory, [question])
    live = fill(cast, model, directions(10))
    assert set(near(cast, model, question, 10)) == {memory.id for memory in live}


@pytest.mark.django_db
def test_a_small_team_beside_a_huge_one_gets_what_an_exact_scan_gives(
    cast: Cast, model: EmbeddingModel
) -> None:
    [question] = directions(1, seed=2)
    with tenant(cast.outsider.account_id):
        for memory in store(cast.outsider, cast.outsider_space, *(f"near {n}" for n in range(500))):
            put_vectors(model, memory, [question])
    with tenant(cast.account.id):
        vectors = directions(20)
        memories = fill(cast, model, vectors)
        assert near(cast, model, question, 10) == exact(memories, vectors, question, 10)


@pytest.mark.usefixtures("inside")
def test_a_filter_never_brings_what_was_not_there_without_it(cast: Cast, model: EmbeddingModel) -> None:
    [question] = directions(1, seed=2)
    fill(cast, model, directions(40), tags=["a"])
    everything = near(cast, model, question, 100)
    assert len(everything) == 40
    assert set(near(cast, model, question, 100, tags=("a",), tiers=("long",))) <= set(everything)


@pytest.mark.usefixtures("inside")
def test_a_space_is_searched_with_the_accounts_own_memories_and_no_other(
    cast: Cast, model: EmbeddingModel
) -> None:
    [question] = directions(1, seed=2)
    other = create_space(cast.owner, name="Other", slug="other")
    [ours], [alls], [others] = (store(cast.agent, space, "fact") for space in (cast.space, None, other))
    for memory in (ours, alls, others):
        put_vectors(model, memory, [question])
    assert set(near(cast, model, question, spaces=frozenset([cast.space.id]))) == {ours.id, alls.id}
    assert near(cast, model, question, spaces=frozenset([cast.space.id]), account_wide=False) == [ours.id]
    assert near(cast, model, question, spaces=frozenset()) == [alls.id]


@pytest.mark.usefixtures("inside")
def test_vectors_of_another_model_are_never_compared(cast: Cast, model: EmbeddingModel) -> None:
    [question] = directions(1, seed=2)
    building = make_model(state="building", fingerprint="0" * 64)
    [ours, theirs] = store(cast.agent, cast.space, "ours", "theirs")
    put_vectors(model, ours, [-question])
    put_vectors(building, theirs, [question])
    assert near(cast, model, question) == [ours.id]
    assert near(cast, building, question) == [theirs.id]


@pytest.mark.usefixtures("inside")
def test_a_memory_of_many_pieces_is_found_once_by_its_best(cast: Cast, model: EmbeddingModel) -> None:
    [question] = directions(1, seed=2)
    [long, short] = store(cast.agent, cast.space, "long", "short")
    put_vectors(model, long, [*directions(200), question])
    put_vectors(model, short, [normalised(question + directions(1)[0])])
    found = search_meaning(cast.agent, model, question, limit=2)
    assert list(found) == [long.id, short.id]
    assert found[long.id] == pytest.approx(1, abs=1e-3)
