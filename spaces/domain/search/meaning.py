"""Search by meaning: the memories whose vectors come nearest to the question's, each by its best piece.

The nearest are read from the account's own vectors, from an index alone, and then filtered; where the filters
leave too few, those that they let through are compared one by one. Either way it is what a comparison of everything
gives; only for large accounts the nearest are found through their bits, or a graph, which may miss a few.
"""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, FloatField, Func, Min, Value
from pgvector import HalfVector

from accounts.actor import Actor
from spaces.domain.search.filters import ANY, SearchFilters, matching
from spaces.domain.search.sizes import Route, route
from spaces.embedding.base import Vector
from spaces.models import EmbeddingModel, MemoryChunk

DEPTH = 3
"""So many times as many vectors as memories are wanted are looked at before the filters apply."""
BITS_DEPTH = 400
"""Those nearest by their bits are compared by their numbers."""
GRAPH_BREADTH = 200

OWN = "account_id = %(account)s and model_id = %(model)s"
WITHIN = f"{OWN} and (%(anywhere)s or space_id is null or space_id = any(%(spaces)s::uuid[]))"

# What is added keeps the planner from another order than that of the index it reads.
EXACT = f"""
    select memory_id, vector <=> %(vector)s::halfvec as distance from spaces_memorychunk
     where {WITHIN} and not wide order by (vector <=> %(vector)s::halfvec) + 0 limit %(limit)s
"""  # noqa: S608
BITS = f"""
    with near as materialized (
        select id from spaces_memorychunk
         where {WITHIN}
         order by (bits <~> binary_quantize(%(vector)s::halfvec)) + 0 limit %(bits_depth)s
    )
    select memory_id, vector <=> %(vector)s::halfvec as distance
      from spaces_memorychunk join near using (id)
     where {OWN} order by distance limit %(limit)s
"""  # noqa: S608
GRAPH = """
    select memory_id, distance from (
        select memory_id, space_id, vector::halfvec({dimensions}) <=> %(vector)s::halfvec as distance
          from spaces_memorychunk where account_id = %(account)s and model_id = %(model)s
         order by vector::halfvec({dimensions}) <=> %(vector)s::halfvec limit %(breadth)s
    ) as near
     where %(anywhere)s or space_id is null or space_id = any(%(spaces)s::uuid[])
     order by distance limit %(limit)s
"""
NAMED = f"""
    select memory_id, min(vector <=> %(vector)s::halfvec) from spaces_memorychunk
     where {OWN} and memory_id = any(%(ids)s) group by memory_id
"""  # noqa: S608

Near = dict[UUID, float]
"""Memory → cosine of its best piece and the question; nearest first."""


def search_meaning(
    actor: Actor, model: EmbeddingModel, vector: Vector, *, filters: SearchFilters = ANY, limit: int = 50
) -> Near:
    """Of the memories that the filters let through, those that come nearest. Only vectors of this model are read."""
    depth = DEPTH * limit
    rows = _nearest(actor.account_id, model, vector, filters, depth)
    near = _let_through(actor, filters, _best(rows))
    if len(near) < limit and len(rows) == depth:
        return _compared(actor, model, vector, filters, limit)
    return dict(list(near.items())[:limit])


def cosines(actor: Actor, model: EmbeddingModel, vector: Vector, ids: Collection[UUID]) -> Near:
    """Of these memories, as far as they have vectors of the model."""
    if not ids:
        return {}
    asked = {
        "account": actor.account_id,
        "model": model.id,
        "vector": HalfVector(vector).to_text(),
        "ids": list(ids),
    }
    return _best(_rows(NAMED, asked))


def distance(vector: Vector) -> Func:
    """Of a chunk's vector, to be computed and not to be looked up in any index."""
    return Func(
        F("vector"),
        Value(HalfVector(vector).to_text()),
        template="((%(expressions)s::halfvec) + 0)",
        arg_joiner=" <=> ",
        output_field=FloatField(),
    )


def _nearest(
    account_id: UUID, model: EmbeddingModel, vector: Vector, filters: SearchFilters, limit: int
) -> list[tuple[UUID, float]]:
    """Pieces of memories, nearest first, before any filter but that of the space."""
    asked = {
        "account": account_id,
        "model": model.id,
        "vector": HalfVector(vector).to_text(),
        "anywhere": filters.spaces is None,
        "spaces": list(filters.spaces or ()),
        "limit": limit,
        "bits_depth": max(BITS_DEPTH, limit),
        "breadth": max(GRAPH_BREADTH, limit),
    }
    match route(account_id, model):
        case Route.EXACT:
            return _rows(EXACT, asked)
        case Route.BITS:
            return _rows(BITS, asked)
        case Route.GRAPH:
            return _by_graph(model, asked)


def _by_graph(model: EmbeddingModel, asked: dict[str, Any]) -> list[tuple[UUID, float]]:
    with connection.cursor() as cursor:
        cursor.execute("select set_config('hnsw.ef_search', %s, true)", [str(asked["breadth"])])
        cursor.execute("select set_config('hnsw.iterative_scan', 'relaxed_order', true)")
    return _rows(GRAPH.format(dimensions=model.dimensions), asked)


def _rows(statement: str, asked: dict[str, Any]) -> list[tuple[UUID, float]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, asked)
        return list(cursor.fetchall())


def _best(rows: Iterable[tuple[UUID, float]]) -> Near:
    near: Near = {}
    for memory_id, distance in rows:
        near.setdefault(memory_id, 1 - distance)
    return near


def _let_through(actor: Actor, filters: SearchFilters, near: Near) -> Near:
    kept = set(matching(actor, filters).filter(id__in=list(near)).values_list("id", flat=True))
    return {id: cosine for id, cosine in near.items() if id in kept}


def _compared(
    actor: Actor, model: EmbeddingModel, vector: Vector, filters: SearchFilters, limit: int
) -> Near:
    chunks = MemoryChunk.objects.of(model).filter(
        account_id=actor.account_id, memory_id__in=matching(actor, filters).values("id")
    )
    best = chunks.values("memory_id").annotate(distance=Min(distance(vector)))
    rows = best.order_by("distance", "memory_id").values_list("memory_id", "distance")
    return _best(rows[:limit])
