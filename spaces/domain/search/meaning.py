"""Search by meaning: the memories whose vectors come nearest to the question's, each by its best piece.

The nearest pieces are read from the account's own vectors, from an index alone, and then filtered; where the filters
leave too few, more are read, and at last all that they let through are compared. Either way it is what a comparison
of everything gives; only for large accounts the nearest are found through their bits, or a graph, which may miss a few.
"""

from functools import lru_cache

from django.db import connection

from spaces.domain.search.sizes import Route
from spaces.embedding.base import Vector
from spaces.models import EmbeddingModel

DEPTHS = (2, 12)
"""So many times as many pieces as memories are wanted are looked at before the filters apply, first and then."""
BITS_DEPTH = 400
"""Those nearest by their bits are compared by their numbers."""
GRAPH_BREADTH = 200

OWN = "account_id = %(account)s and model_id = %(model)s"
QUESTION = "(select vector from asked)"
# What is added keeps the planner from another order than that of the index it reads.
APART = f"(vector <=> {QUESTION}) + 0"


def _in_reach(columns: str, condition: str) -> str:
    """Of the account as a whole, and of each space: each a range of the index, which one condition would not be."""
    chosen = f"select {columns} from spaces_memorychunk where {condition} and space_id"  # noqa: S608
    return f"{chosen} is null union all {chosen} = any(array(select id from reached))"  # noqa: S608


# Parts of a statement (see finding) in which `asked` is the question and `passes` what the filters let through.
# `pieces` are the nearest, `near` the memories among them that pass.
EXACT = f"""
    pieces as materialized (
        {_in_reach(f"memory_id, {APART} as distance", f"{OWN} and not wide")}
         order by distance limit %(depth)s
    )
"""
BITS = f"""
    by_bits as materialized (
        select id from (
            {_in_reach("id, (bits <~> (select binary_quantize(vector) from asked)) + 0 as differing", OWN)}
             order by differing limit %(bits_depth)s
        ) as nearest
    ),
    pieces as materialized (
        select memory_id, {APART} as distance from by_bits cross join lateral (
            select memory_id, vector from spaces_memorychunk where {OWN} and id = by_bits.id offset 0
        ) as chunk order by distance limit %(depth)s
    )
"""  # noqa: S608
GRAPH = f"""
    pieces as materialized (
        select memory_id, vector::halfvec({{dimensions}}) <=> {QUESTION} as distance
          from spaces_memorychunk where {OWN}
         order by vector::halfvec({{dimensions}}) <=> {QUESTION} limit %(depth)s
    )
"""  # noqa: S608
NEAR = """
    near as materialized (
        select memory_id, min(distance) as distance
          from pieces cross join lateral (
            select from spaces_memory where account_id = %(account)s and id = memory_id and {passes} offset 0
          ) as passing
         group by memory_id order by distance, memory_id limit %(pool)s
    )
"""
COMPARED = f"""
    pieces as (select where false),
    near as materialized (
        select memory_id, min({APART}) as distance
          from spaces_memorychunk as chunk
          join spaces_memory on spaces_memory.account_id = %(account)s and spaces_memory.id = memory_id
         where chunk.{OWN.replace(" and ", " and chunk.")} and {{passes}}
         group by memory_id order by distance, memory_id limit %(pool)s
    )
"""  # noqa: S608
NOTHING_NEAR = """
    pieces as (select where false),
    near as (select null::uuid as memory_id, null::float8 as distance where false)
"""
DISTANCE = f"""
    (select min(vector <=> {QUESTION}) from spaces_memorychunk
      where {OWN} and memory_id = spaces_memory.id)
"""  # noqa: S608


def near(way: Route, model: EmbeddingModel, depth: int | None) -> str:
    """The parts `pieces` and `near`, by a route and so deep; or, without a depth, comparing all that pass."""
    if depth is None:
        return COMPARED
    match way:
        case Route.EXACT:
            return f"{EXACT}, {NEAR}"
        case Route.BITS:
            return f"{BITS}, {NEAR}"
        case Route.GRAPH:
            _widen(depth)
            return f"{GRAPH.replace('{dimensions}', str(model.dimensions))}, {NEAR}"


def to_text(vector: Vector) -> str:
    """As the database reads it; half precision, which is kept, has no more than four significant digits."""
    return _form(len(vector)) % tuple(vector.tolist())


@lru_cache(8)
def _form(dimensions: int) -> str:
    return f"[{','.join(['%.5g'] * dimensions)}]"


def _widen(depth: int) -> None:
    with connection.cursor() as cursor:
        breadth = str(min(max(GRAPH_BREADTH, depth), 1000))
        cursor.execute(
            "select set_config('hnsw.ef_search', %s, true),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            [breadth],
        )
