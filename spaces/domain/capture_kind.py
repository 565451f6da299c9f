"""How what waits for review leaves and arrives. What was decided on has no text: it is a memory, or nowhere."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain import retold
from spaces.domain.arriving import Fields, Shape, arrive, written_by
from spaces.domain.capture.capturing import fold_hash
from spaces.domain.checks import check_visible
from spaces.domain.kinds import Arrival, Kept, Kind, Row, in_batches, register_kind
from spaces.domain.whole import erase_rows
from spaces.models import Capture, Space
from spaces.models.captures import TEXT_LENGTH
from spaces.models.memories import ORIGINS


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(tell, in_batches(Capture.objects.visible_to(actor).inside(space).waiting()))


def tell(row: Capture) -> Row:
    return {
        "id": typed_id("cap", row.id),
        **{
            name: getattr(row, name)
            for name in ("text", "origin", "agent", "session", "trigger", "written_by")
        },
        "created_at": format_time(row.created_at),
    }


def read(arrival: Arrival, row: Fields) -> Capture:
    text = row.label("text", TEXT_LENGTH)
    check_visible(text, "text")
    return Capture(
        space=arrival.space,
        text=text,
        origin=row.one_of("origin", ORIGINS),
        agent=row.label("agent", 200),
        session=row.label("session", 200),
        trigger=row.label("trigger", 60),
        fold_hash=fold_hash(text),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
    )


def standing(arrival: Arrival, captures: Sequence[Capture]) -> Iterable[Capture]:
    """Whatever became of it here: nobody is asked about the same twice."""
    assert arrival.space is not None
    return Capture.objects.inside(arrival.space).filter(fold_hash__in=[row.fold_hash for row in captures])


SHAPE = Shape(
    prefix="cap",
    model=Capture,
    read=read,
    tell=tell,
    place=lambda row: bytes(row.fold_hash),
    standing=standing,
    stated=(),
    event=("capture.waiting", "capture"),
    settled=lambda one, stored: stored.state != "waiting",
)

CAPTURES = register_kind(
    Kind(
        prefix="cap",
        model_label="spaces.Capture",
        export=export,
        forgetting=retold.OF_CAPTURES,
        whole=partial(erase_rows, Capture, "cap", ("capture.forgotten", "capture")),
        arrive=partial(arrive, SHAPE),
        kept=(Kept("spaces.Capture", ("text", "agent", "session", "trigger")),),
    )
)
