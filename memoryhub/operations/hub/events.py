"""The feed of events."""

from pydantic import BaseModel, Field

from accounts.actor import Actor
from accounts.models import Event
from accounts.scopes import Scope
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from memoryhub.operations.base import Effect, Input, Output, Route, operation
from memoryhub.operations.fields import Filled, Maybe, split_commas
from spaces.domain.events import list_events

LONGEST_WAIT = 30
LAST_NUMBER = 2**63 - 1


class ObjectOut(BaseModel):
    type: str
    id: str


class EventOut(BaseModel):
    seq: int
    id: str
    type: str
    at: str
    actor: str
    space: Maybe[str]
    object: ObjectOut
    summary: Filled[str] = ""


class EventListInput(Input):
    after: int = Field(default=0, ge=0, le=LAST_NUMBER, description="next_after of the last answer.")
    types: str = Field(default="", description="Types between commas, like record.updated or record.*.")
    limit: int = Field(default=100, ge=1, le=500)
    wait: int = Field(
        default=0,
        ge=0,
        le=LONGEST_WAIT,
        description="Where there is nothing yet, wait so many seconds for it.",
    )


class EventList(Output):
    items: list[EventOut]
    next_after: int
    unsealed: int


@operation(
    "hub",
    title="Follow events",
    scopes=[Scope.EVENTS_READ],
    effect=Effect.READ,
    route=Route("GET", "events"),
    mcp=False,
)
def event_list(actor: Actor, args: EventListInput) -> EventList:
    """What happened after a number, in order, each event once: ids and types, no stored text. Go on with
    next_after. An event gets its number within a second; unsealed counts those that wait for it. Called
    directly it answers at once: waiting is what REST does around it."""
    feed = list_events(actor, after=args.after, types=split_commas(args.types), limit=args.limit)
    return EventList(
        items=[shown(event) for event in feed.events], next_after=feed.next_after, unsealed=feed.unsealed
    )


def shown(event: Event) -> EventOut:
    return EventOut(
        seq=event.seq or 0,
        id=typed_id("evt", event.id),
        type=event.type,
        at=format_time(event.at),
        actor=event.actor,
        space=typed_id("spc", event.space_id) if event.space_id else None,
        object=ObjectOut(type=event.object_type, id=event.object_id),
        summary=event.summary,
    )
