"""Filling accounts and timing their searches; and that each size of account is searched as it is meant to be."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.db import connection

from accounts.actor import system_actor
from memoryhub.bench import filling
from memoryhub.bench.filling import Filled, Material, fill, settle, sizes_of
from memoryhub.bench.speed import HEADINGS, ask, picked
from memoryhub.common.tenancy import tenant
from spaces.domain.search import graphs, sizes
from spaces.domain.search.finding import search_meaning
from spaces.domain.search.graphs import tend_graphs
from spaces.domain.search.sizes import forget_sizes, graph_name
from spaces.embedding.base import normalised
from spaces.models import EmbeddingModel, Memory, MemoryChunk
from tests.spaces.domain.search.engine import make_model

DIMENSIONS = 384


@pytest.fixture
def material() -> Material:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(60, DIMENSIONS)).astype(np.float32)
    texts = [f"Fact {n} about thing {n % 7} in room {n % 5}" for n in range(60)]
    return Material(texts, np.array([normalised(vector) for vector in vectors]))


@pytest.fixture
def model(transactional_db: None) -> Iterator[EmbeddingModel]:
    forget_sizes()
    yield make_model(DIMENSIONS)
    forget_sizes()
    MemoryChunk.objects.all().delete()
    tend_graphs()


@pytest.fixture
def filled(material: Material, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch) -> list[Filled]:
    monkeypatch.setattr(filling, "BATCH", 10)
    *_, found = fill(material, model, 1_500, 3)
    settle()
    return found


def test_sizes_add_up_and_fall() -> None:
    found = sizes_of(100_000, 50)
    assert (sum(found), len(found)) == (100_000, 50)
    assert found == sorted(found, reverse=True)


def test_what_is_filled_stays_and_goes_on_where_it_was_stopped(
    material: Material, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "BATCH", 50)
    first = next(fill(material, model, 300, 3))
    assert max(one.memories for one in first) == 50
    *_, last = fill(material, model, 300, 3)
    assert [one.account_id for one in last] == [one.account_id for one in first]
    assert [one.memories for one in last] == sizes_of(300, 3)
    for one in last:
        with tenant(one.account_id):
            assert Memory.objects.count() == MemoryChunk.objects.count() == one.memories


def test_a_search_is_timed_beside_what_it_is_compared_with(
    material: Material, model: EmbeddingModel, filled: list[Filled]
) -> None:
    times, way = ask(picked(filled)["typical"], material, model, embed=len)
    assert way == "exact"
    assert times.recall == [1.0] * len(times.search)
    assert len(times.cells()) == len(HEADINGS) - 3


def plan(one: Filled, model: EmbeddingModel) -> str:
    """How the database goes about the nearest of an account."""
    question = normalised(np.ones(DIMENSIONS, np.float32))
    forget_sizes()
    with tenant(one.account_id):
        connection.queries_log.clear()
        connection.force_debug_cursor = True
        with (
            pytest.MonkeyPatch.context() as whole
        ):  # a statement that the server keeps is told without its values
            whole.setattr(connection, "remembering_cursor", connection.cursor)
            search_meaning(system_actor(one.account_id), model, question, limit=10)
        statement = [query["sql"] for query in connection.queries if "by_words" in query["sql"]][-1]
        connection.force_debug_cursor = False
        with connection.cursor() as cursor:
            cursor.execute(f"explain {statement.replace('%', '%%')}")
            return "\n".join(line for (line,) in cursor.fetchall())


def test_each_size_is_searched_by_an_index_of_its_own(
    model: EmbeddingModel, filled: list[Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    large, small = filled[0], filled[-1]
    assert "Index Only Scan using memory_chunk_vectors" in plan(small, model)
    monkeypatch.setattr(sizes, "EXACT_UP_TO", 10)
    assert "Index Only Scan using memory_chunk_bits" in plan(small, model)
    for module in (sizes, graphs):
        monkeypatch.setattr(module, "BITS_UP_TO", 600)
    graph = graph_name(large.account_id, model.id)
    assert tend_graphs() == [graph]
    assert f"Index Scan using {graph}" in plan(large, model)
    assert graph not in plan(small, model)


def test_a_small_team_beside_a_large_one_gets_what_comparing_everything_gives(
    material: Material, model: EmbeddingModel, filled: list[Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sizes, graphs):
        monkeypatch.setattr(module, "BITS_UP_TO", 600)
    tend_graphs()
    small: Any = ask(filled[-1], material, model, embed=len)
    large: Any = ask(filled[0], material, model, embed=len)
    assert (small[1], large[1]) == ("exact", "graph")
    assert small[0].recall == [1.0] * len(small[0].search)
    assert np.mean(large[0].recall) > 0.95
