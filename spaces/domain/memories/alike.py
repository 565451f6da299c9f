"""Memories by meaning alone: no word has to be shared."""

from dataclasses import dataclass

from accounts.actor import Actor
from memoryhub.common.errors import Unavailable
from spaces.domain.embeddings import QueryMeaning
from spaces.domain.memories.recalling import Wanted, count_recall, filters_of
from spaces.domain.search.finding import search_meaning
from spaces.models import Memory

ANY = Wanted()


@dataclass(frozen=True)
class Alike:
    memory: Memory
    similarity: float


def find_alike(
    actor: Actor,
    meaning: QueryMeaning,
    wanted: Wanted = ANY,
    *,
    limit: int = 10,
    at_least: float = 0.0,
) -> list[Alike]:
    """The nearest first. Unavailable where there is no vector of the question to compare with."""
    filters, model, vector = filters_of(actor, wanted), meaning.model, meaning.vector
    if model is None or vector is None:
        raise Unavailable(
            f"Search by meaning is not to be had now. {meaning.degraded or 'It is switched off.'} "
            "Search by words meanwhile."
        )
    near = search_meaning(actor, model, vector, filters=filters, limit=limit)
    rows = Memory.objects.filter(account_id=actor.account_id).in_bulk(near)
    scored = [Alike(rows[id], model.scale.similarity(cosine)) for id, cosine in near.items() if id in rows]
    found = [alike for alike in scored if alike.similarity >= at_least]
    count_recall(actor, [alike.memory.id for alike in found])
    return found
