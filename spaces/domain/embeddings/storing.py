"""Keeping vectors, unless the memory says something else by now."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from memoryhub.common.postgres.statements import run
from spaces.domain.embeddings.documents import document, readable
from spaces.domain.embeddings.drafts import Draft
from spaces.embedding.base import EmbeddingError, Vector
from spaces.models import EmbeddingFailure, EmbeddingModel, Memory, MemoryChunk

CLEAR = """
    with cleared as (
        delete from spaces_memorychunk
         where account_id = %(account)s and memory_id = any(%(memories)s::uuid[]) and model_id = %(model)s
    )
    delete from spaces_embeddingfailure
     where account_id = %(account)s and memory_id = any(%(memories)s::uuid[]) and model_id = %(model)s
"""
KEEP = """
    insert into spaces_memorychunk
           (id, account_id, memory_id, model_id, number, space_id, text_hash, wide, vector)
    select id, %(account)s, memory_id, model_id, number, space_id, text_hash, wide, vector::halfvec
      from unnest(%(ids)s::uuid[], %(memories)s::uuid[], %(models)s::bigint[], %(numbers)s::int[],
                  %(spaces)s::uuid[], %(hashes)s::bytea[], %(wide)s::bool[], %(vectors)s::text[])
        as chunk (id, memory_id, model_id, number, space_id, text_hash, wide, vector)
"""


def store(drafts: Sequence[Draft]) -> set[UUID]:
    """In a transaction of the account. Answers the memories that are being or have been changed meanwhile.

    Each memory is locked first: an edit that comes now waits, and then removes what is stored here. One that is
    gone leaves nothing.
    """
    if not drafts:
        return set()
    ids = [draft.memory_id for draft in drafts]
    locked = _locked(drafts[0].account_id, ids)
    fresh = [draft for draft in drafts if _says(locked.get(draft.memory_id), draft)]
    _replace(fresh, locked)
    others = {id for id in ids if id not in locked}
    return (locked.keys() | _existing(drafts[0].account_id, others)) - {d.memory_id for d in fresh}


def _locked(account_id: UUID, ids: Collection[UUID]) -> dict[UUID, Memory]:
    """As they are now, those that nobody is changing."""
    rows = readable(Memory.objects.filter(account_id=account_id, id__in=ids)).order_by("id")
    return {m.id: m for m in rows.select_for_update(of=("self",), skip_locked=True, no_key=True)}


def _says(memory: Memory | None, draft: Draft) -> bool:
    return memory is not None and document(memory).hash == draft.document.hash


def _existing(account_id: UUID, ids: Collection[UUID]) -> set[UUID]:
    if not ids:
        return set()
    return set(Memory.objects.filter(account_id=account_id, id__in=ids).values_list("id", flat=True))


def _replace(drafts: Sequence[Draft], memories: Mapping[UUID, Memory]) -> None:
    chunks: list[MemoryChunk] = []
    failures: list[EmbeddingFailure] = []
    for draft in drafts:
        for model in draft.missing:
            match draft.outcomes.get(model.id):
                case EmbeddingError() as error:
                    failures.append(_failure(draft, model, error))
                case list() as vectors:
                    chunks += _chunks(draft, model, vectors, memories[draft.memory_id].space_id)
    _clear([*chunks, *failures])
    if chunks:
        _keep(chunks)
    EmbeddingFailure.objects.bulk_create(failures)


def _clear(rows: Sequence[MemoryChunk | EmbeddingFailure]) -> None:
    """Another worker may have been here, and what failed before may have come right."""
    pairs = {(row.memory_id, row.model_id) for row in rows}
    for model_id in {model for _, model in pairs}:
        ids = [memory for memory, model in pairs if model == model_id]
        run(CLEAR, {"account": rows[0].account_id, "memories": ids, "model": model_id})


def _keep(chunks: Sequence[MemoryChunk]) -> None:
    columns = zip(
        *(
            (
                c.id,
                c.memory_id,
                c.model_id,
                c.number,
                c.space_id,
                c.text_hash,
                c.wide,
                _written(c.vector),
            )
            for c in chunks
        ),
        strict=True,
    )
    names = ("ids", "memories", "models", "numbers", "spaces", "hashes", "wide", "vectors")
    run(KEEP, {"account": chunks[0].account_id, **dict(zip(names, map(list, columns), strict=True))})


def _written(vector: Vector) -> str:
    """As PostgreSQL reads one: nine digits are all that a float has. The driver's type takes four times as long."""
    values = vector.tolist()
    return f"[{','.join(['%.9g'] * len(values)) % tuple(values)}]"


def _chunks(
    draft: Draft, model: EmbeddingModel, vectors: Sequence[Vector], space_id: UUID | None
) -> list[MemoryChunk]:
    return [
        MemoryChunk(
            account_id=draft.account_id,
            memory_id=draft.memory_id,
            model_id=model.id,
            number=number,
            space_id=space_id,
            text_hash=draft.document.hash,
            wide=model.wide,
            vector=vector,
        )
        for number, vector in enumerate(vectors)
    ]


def _failure(draft: Draft, model: EmbeddingModel, error: EmbeddingError) -> EmbeddingFailure:
    return EmbeddingFailure(
        account_id=draft.account_id,
        memory_id=draft.memory_id,
        model_id=model.id,
        note=error.message[:300],
        failed_at=timezone.now(),
    )
