"""What is told of a memory, and the answers that tell it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, Field

from memoryhub.common.errors import HubError
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page, cut_by_size, shorten_texts
from memoryhub.common.times import format_time
from memoryhub.operations.base import Output
from memoryhub.operations.fields import NOTICE, Filled, JsonObject, Maybe
from spaces.domain import memories
from spaces.domain.embeddings.pending import State
from spaces.models import Memory, MemoryVersion


class Brief(BaseModel):
    """What an agent works with."""

    id: str
    text: str
    truncated: Maybe[bool]
    kind: str
    subject: Filled[str] = ""
    tier: str
    topics: Filled[list[str]] = Field(default_factory=list)
    tags: Filled[list[str]] = Field(default_factory=list)
    path: Filled[str] = ""
    source_ref: Filled[str] = ""
    pinned: bool
    origin: str
    trust: str
    agent: Filled[str] = ""
    status: str
    occurred_at: str
    expires_at: Maybe[str]
    seen_count: int
    version: int


class MemoryOut(Brief):
    """A memory as it is stored, without what is empty."""

    space: Maybe[str]
    links: Filled[list[JsonObject]] = Field(default_factory=list)
    metadata: Filled[JsonObject] = Field(default_factory=dict)
    importance: float
    decided_by: Filled[str] = ""
    agent_instance: Filled[str] = ""
    device_label: Filled[str] = ""
    session: Filled[str] = ""
    superseded_by: Maybe[str]
    resolved_by: Maybe[str]
    recall_count: int
    last_recalled_at: Maybe[str]
    created_at: str
    updated_at: str


class MemoryVersionOut(BaseModel):
    """What people and agents had said of it by then."""

    version: int
    written_by: str
    written_at: str
    text: str
    kind: str
    subject: Filled[str] = ""
    tier: str
    topics: Filled[list[str]] = Field(default_factory=list)
    tags: Filled[list[str]] = Field(default_factory=list)
    path: Filled[str] = ""
    source_ref: Filled[str] = ""
    links: Filled[list[JsonObject]] = Field(default_factory=list)
    metadata: Filled[JsonObject] = Field(default_factory=dict)
    importance: float
    pinned: bool
    origin: str
    trust: str
    decided_by: Filled[str] = ""
    occurred_at: str
    expires_at: Maybe[str]


class Remembered(Output):
    memory: Brief
    created: bool
    redactions: list[JsonObject] = Field(default_factory=list)
    notice: str = NOTICE


class RememberedOverRest(Remembered):
    memory: MemoryOut


class Recalled(Output):
    items: Sequence[Brief]
    count: int
    search: Literal["hybrid", "words", "newest"]
    notice: str = NOTICE


class Explanation(BaseModel):
    """What a score is made of: `words` to `neighbour` add up to it.

    `bm25` is the share of the best that the query could get, `cosine` null while there is no vector;
    `similarity` is the cosine from 0 to 1, where 0.6 and more mean relevant. `met` are the query's words it has.
    """

    id: str
    score: float
    words: float
    meaning: float
    named: float
    time: float
    length: float
    bare_question: float
    neighbour: float
    bm25: float
    cosine: float | None
    similarity: float | None
    met: list[str]


class MemoryList(Recalled):
    items: Sequence[MemoryOut]
    next_cursor: str | None
    explain: Filled[list[Explanation]] = Field(
        default_factory=list,
        description="One for each memory found, also where the answer had no room for it.",
    )


class OneMemory(Output):
    memory: MemoryOut
    notice: str = NOTICE


class MemoryRead(OneMemory):
    embedding: State = Field(description="Whether it is found by its meaning yet; by its words it always is.")


class DeletedMemory(Output):
    id: str
    deleted: bool = True


class MemoryVersionList(Output):
    items: list[MemoryVersionOut]
    next_cursor: str | None
    notice: str = NOTICE


class BatchOutcome(BaseModel):
    """Either the memory or the error. `redactions` are what was cut from this one."""

    index: int
    id: Maybe[str]
    created: Maybe[bool]
    error: Maybe[JsonObject]
    redactions: Filled[list[JsonObject]] = Field(default_factory=list)


class BatchOutcomes(Output):
    items: list[BatchOutcome]
    created: int
    seen_again: int
    refused: int


def brief(memory: Memory) -> Brief:
    return Brief(**brief_fields(memory))


def shown(memory: Memory) -> MemoryOut:
    return MemoryOut(
        **brief_fields(memory),
        space=memory.space_id and typed_id("spc", memory.space_id),
        links=memory.links,
        metadata=memory.metadata,
        importance=memory.importance,
        decided_by=memory.decided_by,
        agent_instance=memory.agent_instance,
        device_label=memory.device_label,
        session=memory.session,
        superseded_by=memory.superseded_by_id and typed_id("mem", memory.superseded_by_id),
        resolved_by=memory.resolved_by_id and typed_id("mem", memory.resolved_by_id),
        recall_count=memory.recall_count,
        last_recalled_at=memory.last_recalled_at and format_time(memory.last_recalled_at),
        created_at=format_time(memory.created_at),
        updated_at=format_time(memory.updated_at),
    )


def brief_fields(memory: Memory) -> dict[str, Any]:
    return {
        "id": typed_id("mem", memory.id),
        "text": memory.text,
        "kind": memory.kind,
        "subject": memory.subject,
        "tier": memory.tier,
        "topics": memory.topics,
        "tags": memory.tags,
        "path": memory.path,
        "source_ref": memory.source_ref,
        "pinned": memory.pinned,
        "origin": memory.origin,
        "trust": memory.trust,
        "agent": memory.agent,
        "status": memory.status,
        "occurred_at": format_time(memory.occurred_at),
        "expires_at": memory.expires_at and format_time(memory.expires_at),
        "seen_count": memory.seen_count,
        "version": memory.version,
    }


def explanation(reason: memories.Candidate) -> Explanation:
    return Explanation(
        id=typed_id("mem", reason.id),
        score=reason.score,
        words=reason.by_words,
        meaning=reason.by_meaning,
        neighbour=reason.neighbour,
        bm25=reason.words,
        cosine=reason.cosine,
        similarity=reason.similarity,
        met=list(reason.met),
        **asdict(reason.priors),
    )


def shown_version(version: MemoryVersion) -> MemoryVersionOut:
    return MemoryVersionOut(
        version=version.version,
        written_by=version.written_by,
        written_at=format_time(version.written_at),
        **version.data,
    )


def outcome(index: int, result: memories.Remembered | HubError) -> BatchOutcome:
    if isinstance(result, HubError):
        return BatchOutcome(index=index, id=None, created=None, error=result.body()["error"])
    id = typed_id("mem", result.memory.id)
    return BatchOutcome(
        index=index, id=id, created=result.created, error=None, redactions=result.memory.redactions
    )


def paged(show: Callable[[Memory], Brief]) -> memories.Told:
    """As much as one answer holds; the cursor gives the rest."""
    return lambda page: page.shown(lambda memory: show(memory).model_dump(mode="json"))


def shortened(show: Callable[[Memory], Brief]) -> memories.Told:
    """All of it with shorter texts, for an answer without a cursor. What is still too much is left out."""

    def told(page: Page[Memory]) -> Page[dict[str, Any]]:
        rows = [show(memory).model_dump(mode="json") for memory in page.items]
        return Page(cut_by_size(shorten_texts(rows, "text"))[0])

    return told
