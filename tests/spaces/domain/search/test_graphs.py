"""Graphs of large accounts, built by the owner beside everything else."""

from collections.abc import Iterator

import numpy as np
import pytest
from django.db import connection

from memoryhub.common.tenancy import tenant
from spaces.domain.search import graphs, sizes
from spaces.domain.search.finding import search_meaning
from spaces.domain.search.graphs import tend_graphs
from spaces.domain.search.sizes import Route, graph_name, route
from spaces.embedding.base import normalised
from spaces.models import EmbeddingModel, MemoryChunk
from tests.conftest import Cast
from tests.spaces.domain.search.engine import make_model, put_vectors
from tests.spaces.domain.search.memories import store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def large(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingModel]:
    """An account of 60 vectors, which counts as large; the outsider's has 5."""
    monkeypatch.setattr(sizes, "BITS_UP_TO", 50)
    monkeypatch.setattr(graphs, "BITS_UP_TO", 50)
    model = make_model()
    random = np.random.default_rng(1)
    for actor, space, count in ((cast.agent, cast.space, 60), (cast.outsider, cast.outsider_space, 5)):
        with tenant(actor.account_id):
            for memory in store(actor, space, *(f"fact {n}" for n in range(count))):
                put_vectors(model, memory, [normalised(random.normal(size=16).astype(np.float32))])
    sizes.forget_sizes()
    yield model
    sizes.forget_sizes()
    for account in (cast.account, cast.outsider_space.account):
        with tenant(account.id):
            MemoryChunk.objects.all().delete()
    tend_graphs()


def test_a_large_account_gets_a_graph_and_is_searched_by_it(cast: Cast, large: EmbeddingModel) -> None:
    name = graph_name(cast.account.id, large.id)
    assert tend_graphs() == [name]
    assert tend_graphs() == []
    question = normalised(np.arange(16, dtype=np.float32) - 7)
    with tenant(cast.account.id):
        assert route(cast.account.id, large) is Route.GRAPH
        found = search_meaning(cast.agent, large, question, limit=10)
        chunks = list(MemoryChunk.objects.values_list("memory_id", "vector"))
    exact = sorted(chunks, key=lambda chunk: -float(np.dot(chunk[1], question)))
    assert list(found) == [memory_id for memory_id, _ in exact[:10]]


def test_a_graph_nobody_needs_any_more_is_dropped(cast: Cast, large: EmbeddingModel) -> None:
    tend_graphs()
    with tenant(cast.account.id):
        MemoryChunk.objects.all().delete()
    assert tend_graphs() == []
    with connection.cursor() as cursor:
        cursor.execute(graphs.BUILT)
        assert cursor.fetchall() == []
