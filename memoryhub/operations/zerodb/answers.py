"""What every tool of this family answers: what it was asked for, accompanied where the session wants it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt
from memoryhub.operations.base import Input, Output
from memoryhub.operations.fields import Maybe
from spaces.domain.auto_context import Accompaniment

LONGEST = 500


class Arguments(Input):
    """Whose agent it is, which the published client tells, we know by its credential and its session."""

    aliases: ClassVar[Mapping[str, str]] = {"agent_id": ""}


# JSON has one kind of number, and this family calls these so.
Whole = Annotated[float, Field(multiple_of=1)]


class Remembered(BaseModel):
    id: str
    content: str
    relevance: float
    origin: str
    trust: str


class Beside(BaseModel):
    query: str
    memories: list[Remembered]


class Answer(Output):
    beside: Maybe[Beside] = Field(alias="_auto_context")


def beside(found: Accompaniment | None, *, but: str = "") -> Beside | None:
    """`but` is the id of what the answer itself is about."""
    if found is None:
        return None
    shown = [
        Remembered(
            id=typed_id("mem", one.memory.id),
            content=excerpt(one.memory.text, LONGEST),
            relevance=round(one.relevance, 4),
            origin=one.memory.origin,
            trust=one.memory.trust,
        )
        for one in found.memories
    ]
    return Beside(query=excerpt(found.query, LONGEST), memories=[one for one in shown if one.id != but])
