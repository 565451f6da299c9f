"""What waits for a person: to be kept, perhaps in other words, or dropped."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import Conflict, Forbidden, NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from spaces.domain.access import access_space, require_right
from spaces.domain.capture.capturing import SOURCE
from spaces.domain.memories import remember
from spaces.models import Capture, Memory


def list_captures(actor: Actor, *, size: int = 50, cursor: str | None = None) -> Page[Capture]:
    """Those of the space that wait, newest first."""
    space = access_space(actor)
    return page_of(
        Capture.objects.visible_to(actor).inside(space).waiting(),
        token=cursor,
        size=size,
        field="cursor",
        actor_key=actor.key,
        filters={"list": "captures", "space": space.id},
    )


def count_waiting(actor: Actor) -> int:
    return Capture.objects.visible_to(actor).inside(access_space(actor)).waiting().count()


@transaction.atomic
def keep_capture(actor: Actor, id: str, *, text: str = "") -> Memory:
    """Remember it, in the person's words if they gave some. It counts as reviewed."""
    row = _waiting(actor, id)
    memory = remember(
        actor.in_space(row.space.slug),
        captured=True,
        text=text.strip() or row.text,
        origin=row.origin,
        agent=row.agent,
        session=row.session,
        source_ref=SOURCE,
    ).memory
    row.memory = memory
    _decide(actor, row, "kept")
    return memory


@transaction.atomic
def drop_captures(actor: Actor, ids: Sequence[str]) -> int:
    """For good, and so that the same isn't asked again."""
    for id in ids:
        _decide(actor, _waiting(actor, id), "dropped")
    return len(ids)


def _waiting(actor: Actor, id: str) -> Capture:
    """Locked. No key decides what a person is asked."""
    rows = Capture.objects.visible_to(actor).select_related("space")
    row = rows.filter(id=parse_id("cap", id)).select_for_update(of=("self",), no_key=True).first()
    if row is None:
        raise NotFound("capture")
    if not actor.is_person:
        raise Forbidden("Only a person in a browser decides on what was captured.")
    require_right(actor, row.space, Right.WRITE)
    if row.state != "waiting":
        raise Conflict("Someone has decided on this already.", actual=row.state)
    return row


def _decide(actor: Actor, row: Capture, state: str) -> None:
    row.state, row.text, row.decided_by, row.decided_at = state, "", actor.key, timezone.now()
    row.save(update_fields=["state", "text", "memory", "decided_by", "decided_at"])
    record_event(actor, f"capture.{state}", "capture", typed_id("cap", row.id), space_id=row.space_id)
