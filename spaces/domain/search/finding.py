"""What a search looks at: what either leg brings and what stands beside it, scored by both legs.

One statement does it all: planning and sending several costs more than what they do.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.postgres.statements import rows_of
from spaces.domain.embeddings.queries import QueryMeaning
from spaces.domain.search import meaning
from spaces.domain.search.filters import ANY, REACHED, SearchFilters, passing
from spaces.domain.search.lexemes import inside, to_tsquery_literal
from spaces.domain.search.sizes import route
from spaces.domain.search.words import HAVING, NO_WEIGHTS, Asked, rarest
from spaces.embedding.base import Vector
from spaces.models import EmbeddingModel

HEAD = 1000
"""Characters of a text that are read for what they say of time."""

SCORE = "-(spaces_memory.search_weights <#> (select weights from asked))"
ASKED = "asked as materialized (select %(weights)s::sparsevec as weights, {vector} as vector)"
# Each row is looked up by its place or its id, which `offset 0` keeps the planner from thinking over: what it knows
# of a table that has just been filled is wrong, and thinking takes time too.
BY_WORDS = f"""
    by_words as materialized (
        select spaces_memory.id, {SCORE} as words
          from {HAVING} as found (place)
         cross join lateral (
            select * from spaces_memory where ctid = found.place and {{passes}} offset 0
         ) as spaces_memory
         order by words desc, created_at desc, spaces_memory.id desc limit %(pool)s
    )
"""  # noqa: S608
NO_WORDS = "by_words as (select null::uuid as id, null::float8 as words where false)"
COLUMNS = f"""
    spaces_memory.id, extract(epoch from spaces_memory.created_at)::float8, spaces_memory.session,
    spaces_memory.agent, spaces_memory.decided_by, spaces_memory.subject,
    length(spaces_memory.text), left(spaces_memory.text, {HEAD}), spaces_memory.written_by, spaces_memory.trust
"""
FOUND = f"""
    select {COLUMNS},
           coalesce(found.words, {SCORE}, 0), coalesce(found.distance, {{distance}}),
           found.by_words, found.near, (select count(*) from pieces)
      from (select id, max(words) as words, min(distance) as distance, bool_or(by_words) as by_words,
                   bool_or(near) as near
              from (select id, words, null::float8 as distance, true as by_words, false as near from by_words
                     union all
                    select memory_id, null, distance, false, true from near) as legs
             group by id) as found
     cross join lateral (
        select * from spaces_memory where account_id = %(account)s and id = found.id offset 0
     ) as spaces_memory
"""  # noqa: S608

# The order in a session is that of `occurred_at`; ids rise in the order of writing. Two look-ups for each.
BESIDE = f"""
    select {COLUMNS}, coalesce({SCORE}, 0), {{distance}}, false, false, 0, own.id
      from spaces_memory as own
     cross join lateral (
        (select id from spaces_memory as former
          where account_id = %(account)s and session = own.session and session <> ''
            and (occurred_at, id) < (own.occurred_at, own.id)
          order by occurred_at desc, id desc limit 1)
        union all
        (select id from spaces_memory as later
          where account_id = %(account)s and session = own.session and session <> ''
            and (occurred_at, id) > (own.occurred_at, own.id)
          order by occurred_at, id limit 1)
     ) as beside
     cross join lateral (
        select * from spaces_memory
         where account_id = %(account)s and id = beside.id
           and space_id is not distinct from own.space_id and {{passes}} offset 0
     ) as spaces_memory
     where own.account_id = %(account)s and own.id = any(%(lenders)s)
"""  # noqa: S608


NOTHING = Asked([], {}, NO_WEIGHTS)


class Row(NamedTuple):
    """A memory that passes, with what its place depends on. `words` is 0 to 1; `distance` None: no vector yet.

    `written` are seconds; `by_words` and `near` say which leg brought it, of how many `pieces` looked at.
    """

    id: UUID
    written: float
    session: str
    agent: str
    decided_by: str
    subject: str
    length: int
    head: str
    written_by: str
    trust: str
    words: float
    distance: float | None
    by_words: bool
    near: bool
    pieces: int


@dataclass(frozen=True)
class Way:
    """How the legs look: for which lexemes, and at how many pieces by which route (None: all that pass)."""

    lexemes: tuple[str, ...]
    depth: int | None


@dataclass(frozen=True)
class Finding:
    """One question in one account."""

    actor: Actor
    asked: Asked
    meaning: QueryMeaning
    filters: SearchFilters

    def best(self, pool: int) -> list[Row]:
        """The best by words and the nearest by meaning, so many of each, in no order."""
        depth = None if self.meaning.vector is None else meaning.DEPTHS[0] * pool
        way = Way(tuple(rarest(self.asked.known)), depth)
        while True:
            found = [Row._make(row) for row in self._run(way, pool)]
            if (wider := self._wider(way, found, pool)) == way:
                return found
            way = wider

    def beside(self, lenders: Collection[UUID]) -> Iterator[tuple[UUID, Row]]:
        """Those right beside each in its session, as (lender, row)."""
        statement = f"with {ASKED}, {REACHED} {BESIDE}"
        for *row, lender in self._rows(statement, {"lenders": list(lenders)}):
            yield lender, Row._make(row)

    def _wider(self, way: Way, found: list[Row], pool: int) -> Way:
        """The filters may have left fewer than expected: then common words matter as well, and what is further
        away."""
        lexemes, depth = way.lexemes, way.depth
        if sum(row.by_words for row in found) < pool:
            lexemes = tuple(self.asked.known)
        looked_at = found[0].pieces if found else depth
        if depth and looked_at == depth and sum(row.near for row in found) < pool:
            deepest = meaning.DEPTHS[-1] * pool
            depth = deepest if depth < deepest else None
        return way if len(lexemes) == len(way.lexemes) and depth == way.depth else Way(lexemes, depth)

    def _run(self, way: Way, pool: int) -> list[tuple[Any, ...]]:
        by_words = BY_WORDS if way.lexemes else NO_WORDS
        statement = f"with {ASKED}, {REACHED}, {by_words}, {self._near(way)} {FOUND}"
        asked = {
            "pool": pool,
            "tsquery": inside(to_tsquery_literal(way.lexemes), self.filters.spaces),
            "depth": way.depth,
            "bits_depth": max(meaning.BITS_DEPTH, way.depth or 0),
        }
        return self._rows(statement, asked)

    def _near(self, way: Way) -> str:
        model = self.meaning.model
        if model is None or self.meaning.vector is None:
            return meaning.NOTHING_NEAR
        return meaning.near(route(self.actor.account_id, model), model, way.depth)

    def _rows(self, statement: str, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        passes, values = self._passes
        model, vector = self.meaning.model, self.meaning.vector
        known = {
            "weights": self.asked.weights.to_text(),
            "model": model.id if model else None,
            "vector": meaning.to_text(vector) if vector is not None else None,
        }
        return rows_of(_compact(statement, passes, by_meaning=vector is not None), values | known | asked)

    @cached_property
    def _passes(self) -> tuple[str, dict[str, Any]]:
        return passing(self.actor, self.filters)


@lru_cache(256)
def _compact(statement: str, passes: str, *, by_meaning: bool) -> str:
    """Complete, and short enough for the driver to remember where its values go."""
    vector, distance = (
        ("%(vector)s::halfvec", meaning.DISTANCE) if by_meaning else ("null::halfvec", "null::float8")
    )
    return " ".join(statement.format(passes=passes, vector=vector, distance=distance).split())


def search_meaning(
    actor: Actor, model: EmbeddingModel, vector: Vector, *, filters: SearchFilters = ANY, limit: int = 50
) -> dict[UUID, float]:
    """By meaning alone: memory → cosine of its best piece and the question; nearest first."""
    found = Finding(actor, NOTHING, QueryMeaning(model, vector), filters).best(limit)
    near = {row.id: 1 - row.distance for row in found if row.distance is not None}
    return dict(sorted(near.items(), key=lambda pair: (-pair[1], pair[0])))
