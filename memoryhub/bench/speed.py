"""How fast search is by size: each question in the same breath as what it is measured against.

`SELECT 1` is what any word with the database costs, the exact scan what the same vectors cost in this process, and
the embedding what the question's vector costs. The search is the hub's own, with its vector at hand.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from accounts.actor import Actor, system_actor
from memoryhub.bench.filling import Filled, Material, Vectors, fill, settle
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings import QueryMeaning, embed_query
from spaces.domain.memories import find_memories
from spaces.domain.search.finding import search_meaning
from spaces.domain.search.graphs import tend_graphs
from spaces.domain.search.sizes import forget_sizes, route
from spaces.embedding.base import normalised
from spaces.models import EmbeddingModel, MemoryChunk

SCALES = {10_000: 1, 100_000: 50, 1_000_000: 1_000}
"""Memories → accounts that they are spread over."""
QUESTIONS = 100
TOP = 10
PROGRESS_EVERY = 10.0
ASKED_SEED = 7
HEADINGS = [
    "of",
    "memories",
    "route",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "SELECT 1",
    "numpy",
    "embedding",
    "recall",
]


@dataclass
class Times:
    """In milliseconds, of one account's questions."""

    search: list[float] = field(default_factory=list)
    select: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    embedding: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)

    def cells(self) -> list[str]:
        """Search at three percentiles, its 95th as so many times the median of what was measured beside it."""
        p50, p95, p99 = np.percentile(self.search, (50, 95, 99))
        beside = [np.median(times) for times in (self.select, self.exact, self.embedding)]
        ratios = [f"{p95 / one:.1f}x" for one in beside]
        return [f"{p50:.2f}", f"{p95:.2f}", f"{p99:.2f}", *ratios, f"{np.mean(self.recall):.3f}"]


def speed(material: Material, model: EmbeddingModel, memories: int) -> Iterator[str]:
    """Lines to print: how far the filling is, and then a table."""
    filled: list[Filled] = []
    told = perf_counter()
    for filled in fill(material, model, memories, SCALES[memories]):
        if perf_counter() - told > PROGRESS_EVERY:
            told = perf_counter()
            yield f"  {sum(one.memories for one in filled):,} of {memories:,} stored"
    settle()
    for built in tend_graphs():
        yield f"  built {built}"
    yield f"\n{memories:,} memories, accounts: {len(filled):,}; p95 as so many times its median"
    yield "".join(f"{heading:>11}" for heading in HEADINGS)
    for name, one in picked(filled).items():
        times, way = ask(one, material, model)
        cells = [name, f"{one.memories:,}", way, *times.cells()]
        yield "".join(f"{cell:>11}" for cell in cells)


def picked(filled: Sequence[Filled]) -> dict[str, Filled]:
    """The largest account; the one that a memory picked at random is likely in; a middling one."""
    if len(filled) == 1:
        return {"the only": filled[0]}
    half = int(
        np.searchsorted(
            np.cumsum([one.memories for one in filled]),
            filled[0].memories + sum(one.memories for one in filled[1:]) / 2,
        )
    )
    return {"largest": filled[0], "busy": filled[half], "typical": filled[len(filled) // 2]}


def ask(
    one: Filled, material: Material, model: EmbeddingModel, embed: Callable[[str], Any] = embed_query
) -> tuple[Times, str]:
    """Each question once, everything in turn, so that all of it meets the same machine."""
    forget_sizes()
    actor = system_actor(one.account_id)
    ids, vectors = _vectors(actor, model)
    times = Times()
    for number, (text, vector) in enumerate(material.invented(QUESTIONS + 5, ASKED_SEED)):
        question = " ".join(text.split()[:4])
        vector = normalised(vector)
        meaning = QueryMeaning(model, vector)
        if number < 5:
            find_memories(actor, question, meaning=meaning, limit=TOP)
            continue
        times.select.append(_timed(_select))
        times.exact.append(_timed(partial(_exact, vectors, vector)))
        times.embedding.append(_timed(partial(embed, f"{question} {number} {one.account_id}?")))
        times.search.append(_timed(partial(find_memories, actor, question, meaning=meaning, limit=TOP)))
        with tenant(actor.account_id):
            near = set(list(search_meaning(actor, model, vector))[:TOP])
        best = {ids[i] for i in _exact(vectors, vector)}
        times.recall.append(len(best & near) / len(best))
    with tenant(one.account_id):
        return times, route(one.account_id, model).value


def _vectors(actor: Actor, model: EmbeddingModel) -> tuple[list[UUID], Vectors]:
    with tenant(actor.account_id):
        rows = MemoryChunk.objects.of(model).filter(account_id=actor.account_id)
        found = list(rows.values_list("memory_id", "vector").iterator(chunk_size=2_000))
    return [id for id, _ in found], np.array([vector for _, vector in found], np.float32)


def _exact(vectors: Vectors, vector: Vectors) -> list[int]:
    cosines = vectors @ vector
    top = np.argpartition(-cosines, min(TOP, len(cosines) - 1))[:TOP]
    return [int(i) for i in top]


def _select() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select 1")
        cursor.fetchone()


def _timed(act: Callable[[], Any]) -> float:
    began = perf_counter()
    act()
    return 1000 * (perf_counter() - began)
