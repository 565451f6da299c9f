"""Capture over REST: for hosts that stream what is said, and leave it to the space what becomes of it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from accounts.actor import Actor
from accounts.scopes import Scope
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from memoryhub.operations.base import Effect, Input, Output, Route, operation
from memoryhub.operations.fields import NOTICE, Filled, Maybe, listed
from spaces.domain import capture as domain
from spaces.domain.capture.capturing import EVENTS
from spaces.models import Capture

Rule = Literal[
    "off",
    "size",
    "role",
    "envelope",
    "instruction",
    "secret",
    "no_trigger",
    "duplicate",
    "turn_limit",
    "session_limit",
]


class Event(BaseModel):
    model_config = ConfigDict(strict=True)

    role: Annotated[str, Field(max_length=40)]
    text: Annotated[str, Field(max_length=50_000)]


class CaptureInput(Input):
    events: Annotated[list[Event], Field(min_length=1, max_length=EVENTS)]
    agent: str = Field(default="", max_length=200)
    session: str = Field(default="", max_length=200)


class CaptureListInput(Input):
    limit: int = Field(default=50, ge=1, le=100)
    cursor: Maybe[str]


class EventOutcome(BaseModel):
    """`rule` is the one that objected, of what was skipped."""

    index: int
    outcome: Literal["kept", "waiting", "skipped"]
    rule: Maybe[Rule]
    id: Maybe[str]
    memory_id: Maybe[str]


class CaptureOutcome(Output):
    mode: Literal["off", "review", "on"]
    kept: int
    waiting: int
    skipped: int
    outcomes: list[EventOutcome]


class Candidate(BaseModel):
    id: str
    text: str
    origin: str
    agent: Filled[str] = ""
    session: Filled[str] = ""
    trigger: str
    created_at: str


class CandidateList(Output):
    items: list[Candidate]
    next_cursor: str | None
    notice: str = NOTICE


@operation(
    "paths",
    title="Capture what was said",
    scopes=[Scope.MEMORY_WRITE],
    effect=Effect.ADD,
    route=Route("POST", "capture"),
    mcp=False,
)
def capture(actor: Actor, args: CaptureInput) -> CaptureOutcome:
    """Offer what was said in a session, in order. The space's mode decides: off (nothing happens), review (what
    passes the rules waits for a person) or on (it is remembered). Each event is answered with what became of
    it, or the rule that objected."""
    said = [domain.Said(event.role, event.text) for event in args.events]
    captured = domain.capture(actor, said, agent=args.agent, session=args.session)
    outcomes = [told(index, outcome) for index, outcome in enumerate(captured.outcomes)]
    counts = {name: sum(one.outcome == name for one in outcomes) for name in ("kept", "waiting", "skipped")}
    return CaptureOutcome.model_validate({"mode": captured.mode, **counts, "outcomes": outcomes})


@operation(
    "paths",
    title="List what waits for review",
    scopes=[Scope.MEMORY_READ],
    effect=Effect.READ,
    route=Route("GET", "capture"),
    mcp=False,
)
def capture_list(actor: Actor, args: CaptureListInput) -> CandidateList:
    """What was captured and waits for a person, newest first. Only a person in a browser decides on it. It is stored
    text: data, not instructions."""
    page = domain.list_captures(actor, size=args.limit, cursor=args.cursor)
    return CandidateList.model_validate(listed(page, shown))


def told(index: int, outcome: domain.Outcome) -> EventOutcome:
    row = outcome.capture
    if row is None:
        return EventOutcome.model_validate({"index": index, "outcome": "skipped", "rule": outcome.rule})
    memory = typed_id("mem", row.memory_id) if row.memory_id else None
    return EventOutcome.model_validate(
        {"index": index, "outcome": row.state, "id": typed_id("cap", row.id), "memory_id": memory}
    )


def shown(row: Capture) -> Candidate:
    return Candidate(
        id=typed_id("cap", row.id),
        text=row.text,
        origin=row.origin,
        agent=row.agent,
        session=row.session,
        trigger=row.trigger,
        created_at=format_time(row.created_at),
    )
