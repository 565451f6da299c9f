"""Accounts full of memories whose words and vectors are shaped like real ones, made without embedding each.

A vector is a real one moved along the difference of two others, so that what is near to what, and which directions
there are at all, stay as the model has them. Words are drawn from the same texts. The same number makes the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

from accounts.actor import system_actor
from accounts.domain.accounts import create_account
from accounts.models import Account
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from spaces.domain.embeddings.configured import client_of
from spaces.domain.search.graphs import owner_login
from spaces.domain.search.indexing import index_fields
from spaces.domain.spaces import create_space
from spaces.models import EmbeddingModel, Memory, Space

Vectors = NDArray[np.float32]

MOVED = 0.5
WORDS = 14
BATCH = 500
LEAST = 20
ZIPF = 0.9

LAID_OUT = """
    create temporary table filling
    (id uuid, text text, search_vector tsvector, search_weights sparsevec, vector halfvec)
    on commit drop
"""
CHUNKS = """
    insert into spaces_memorychunk (id, account_id, memory_id, model_id, number, space_id, text_hash, wide, vector)
    select id, %(account)s, id, %(model)s, 0, %(space)s, '', %(wide)s, vector from filling
"""


@dataclass(frozen=True)
class Material:
    """Real texts with their vectors."""

    texts: Sequence[str]
    vectors: Vectors

    @cached_property
    def words(self) -> list[list[str]]:
        return [text.split() for text in self.texts]

    def invented(self, count: int, seed: int) -> Iterator[tuple[str, Vectors]]:
        random = np.random.default_rng(seed)
        picks = random.integers(len(self.texts), size=(count, 3))
        for one, two, three in picks:
            pool = self.words[one] + self.words[two]
            text = " ".join(pool[i] for i in random.integers(len(pool), size=WORDS))
            moved = self.vectors[one] + MOVED * (self.vectors[two] - self.vectors[three])
            yield text, moved / np.linalg.norm(moved)


@dataclass(frozen=True)
class Filled:
    account_id: UUID
    memories: int


def embedded(model: EmbeddingModel, texts: Sequence[str]) -> Material:
    client, step = client_of(model), 32
    batches = (client.embed(texts[i : i + step], "passage") for i in range(0, len(texts), step))
    return Material(texts, np.array([vector for batch in batches for vector in batch], np.float32))


def sizes_of(memories: int, accounts: int) -> list[int]:
    """A few large accounts and many small ones, largest first."""
    weights = np.arange(1, accounts + 1) ** -ZIPF
    found = np.maximum(LEAST, (memories * weights / weights.sum()).astype(int))
    found[0] += memories - found.sum()
    return [int(size) for size in found]


def fill(material: Material, model: EmbeddingModel, memories: int, accounts: int) -> Iterator[list[Filled]]:
    """After each round, how full the accounts are. All write at once, so that their rows lie mixed as they do in
    life. Goes on where it was stopped."""
    sizes = sizes_of(memories, accounts)
    spaces = [_space(f"bench-{memories}-{number}") for number in range(accounts)]
    counts = [_count(space) for space in spaces]
    while True:
        for number, space in enumerate(spaces):
            if missing := min(BATCH, sizes[number] - counts[number]):
                seed = number * 1_000_003 + counts[number]
                with tenant(space.account_id):
                    _add(list(material.invented(missing, seed)), space, model)
                counts[number] += missing
        yield [Filled(space.account_id, count) for space, count in zip(spaces, counts, strict=True)]
        if counts == sizes:
            return


def settle() -> None:
    """What the database does by itself sooner or later: note which pages are whole, and count."""
    connection.close()
    with psycopg.connect(owner_login(), autocommit=True) as owner:
        for table in ("spaces_memory", "spaces_memorychunk"):
            owner.execute(f"vacuum (analyze) {table}")


def _space(slug: str) -> Space:
    """The one space of the account with that name."""
    account = Account.objects.filter(slug=slug).first() or create_account(slug, slug)
    with tenant(account.id):
        found = Space.objects.filter(account_id=account.id).first()
        return found or create_space(system_actor(account.id), name="Bench", slug="bench")


def _count(space: Space) -> int:
    with tenant(space.account_id):
        return Memory.objects.filter(account_id=space.account_id).count()


def _add(made: Sequence[tuple[str, Vectors]], space: Space, model: EmbeddingModel) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LAID_OUT)
        with cursor.copy("copy filling from stdin") as copy:
            for text, vector in made:
                copy.write_row(_row(text, vector, space))
        columns, values = _columns(space)
        cursor.execute(f"insert into spaces_memory ({columns}) select {values} from filling")  # noqa: S608
        asked: dict[str, Any] = {
            "account": space.account_id,
            "space": space.id,
            "model": model.id,
            "wide": model.wide,
        }
        cursor.execute(CHUNKS, asked)


def _row(text: str, vector: Vectors, space: Space) -> tuple[Any, ...]:
    memory = Memory(account_id=space.account_id, text=text, occurred_at=space.created_at)
    index = index_fields(memory, space)
    numbers = ",".join(f"{number:.4g}" for number in vector.tolist())
    return new_id(), text, index["search_vector"], index["search_weights"].to_text(), f"[{numbers}]"


def _columns(space: Space) -> tuple[str, str]:
    """All columns of a memory with what fills them: its own, or what is the same for all."""
    own = {
        "id": "id",
        "text": "text",
        "search_vector": "search_vector",
        "search_weights": "search_weights",
        "identity": "uuid_send(id) || uuid_send(id)",
    }
    like = Memory(account_id=space.account_id, space_id=space.id, written_by="bench")
    moments = dict.fromkeys(("occurred_at", "last_seen_at", "created_at", "updated_at"), space.created_at)
    with connection.cursor() as cursor:
        told = {
            field.column: own.get(str(field.column))
            or cursor.mogrify(
                "%s",
                [
                    field.get_db_prep_save(
                        moments.get(field.attname, getattr(like, field.attname)), connection
                    )
                ],
            )
            for field in Memory._meta.concrete_fields
        }
    return ", ".join(f'"{column}"' for column in told), ", ".join(told.values())
