"""How an account's vectors are best searched: by how many there are, and what has been built for them."""

from dataclasses import dataclass
from enum import Enum
from time import monotonic
from uuid import UUID

from django.db import connection

from spaces.models import EmbeddingModel, MemoryChunk

# Reading every vector of an account costs about half a microsecond each, reading their bits a third of that; a
# graph's cost hardly grows, but it is only worth its building where there are very many.
EXACT_UP_TO = 10_000
BITS_UP_TO = 100_000

KEPT_FOR = 60
MOST_KEPT = 10_000


class Route(Enum):
    EXACT = "exact"
    BITS = "bits"
    GRAPH = "graph"


@dataclass(frozen=True)
class Known:
    vectors: int
    graph: bool
    until: float


_known: dict[tuple[UUID, int], Known] = {}


def route(account_id: UUID, model: EmbeddingModel) -> Route:
    """For the account in force. What is known of its size is up to a minute old."""
    known = _look_up(account_id, model)
    if known.vectors > BITS_UP_TO and known.graph:
        return Route.GRAPH
    return Route.BITS if model.wide or known.vectors > EXACT_UP_TO else Route.EXACT


def graph_name(account_id: UUID, model_id: int) -> str:
    """Of the index that holds the vectors of one large account."""
    return f"memory_chunk_graph_{account_id.hex}_{model_id}"


def count_vectors(account_id: UUID, model: EmbeddingModel, most: int = BITS_UP_TO + 1) -> int:
    """As far as `most`: what is beyond makes no difference."""
    rows = MemoryChunk.objects.filter(account_id=account_id, model_id=model.id)
    return rows.order_by()[:most].count()


def forget_sizes() -> None:
    """As if the process had just started."""
    _known.clear()


def _look_up(account_id: UUID, model: EmbeddingModel) -> Known:
    key = (account_id, model.id)
    known = _known.get(key)
    if known is None or known.until < monotonic():
        if len(_known) > MOST_KEPT:
            _known.clear()
        vectors = count_vectors(account_id, model)
        graph = vectors > BITS_UP_TO and _is_built(graph_name(account_id, model.id))
        known = _known[key] = Known(vectors, graph, monotonic() + KEPT_FOR)
    return known


def _is_built(index: str) -> bool:
    """Valid too: while one is being built, it is there already."""
    with connection.cursor() as cursor:
        cursor.execute("select indisvalid from pg_index where indexrelid = to_regclass(%s)", [index])
        row = cursor.fetchone()
    return bool(row and row[0])
