"""What happened in an account, for those who run it: to filter, and to take away as it was sealed."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from accounts.actor import Actor
from accounts.domain.chain import BATCH
from accounts.domain.checkpoints import CHECK_NOW, latest_checkpoint
from accounts.domain.events import event_line, record_event
from accounts.domain.jobs import enqueue
from accounts.models import Checkpoint, Event, Job
from accounts.models.events import EventQuerySet
from accounts.scopes import Right
from memoryhub.common.errors import Forbidden
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.tenancy import tenant

PAGE = 50
ORDER = ("-seq", "-id")


@dataclass(frozen=True)
class Asked:
    """Narrows the list down; what is empty narrows nothing. `noun` is the first part of a type, as in `key`."""

    noun: str = ""
    by: str = ""
    space: UUID | None = None
    object: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class ChainState:
    """`checked` is what the last look through the chain found, `checking` whether one is asked for; `unsealed` have
    no number yet."""

    last: int
    unsealed: int
    checked: Checkpoint | None
    checking: bool


def check_may_audit(actor: Actor) -> None:
    if not actor.is_person or not actor.has(Right.MANAGE):
        raise Forbidden("The audit trail is for owners and admins.")


def list_audit(actor: Actor, asked: Asked, *, token: str | None = None) -> Page[Event]:
    """Sealed events, the latest first."""
    check_may_audit(actor)
    return page_of(
        _asked(actor, asked),
        token=token,
        size=PAGE,
        actor_key=actor.key,
        filters=asdict(asked),
        order=ORDER,
        field="page",
    )


def chain_state(actor: Actor) -> ChainState:
    check_may_audit(actor)
    events = Event.objects.filter(account_id=actor.account_id)
    last = events.sealed().order_by("-seq").values_list("seq", flat=True).first()
    return ChainState(
        last or 0, events.filter(seq=None).count(), latest_checkpoint(actor.account_id), _is_asked_for(actor)
    )


def ask_for_check(actor: Actor) -> None:
    """A worker looks through the chain soon, and signs it."""
    check_may_audit(actor)
    if not _is_asked_for(actor):
        enqueue(CHECK_NOW, actor.account_id)


def _is_asked_for(actor: Actor) -> bool:
    return Job.objects.filter(account_id=actor.account_id, kind=CHECK_NOW).exists()


def nouns(actor: Actor) -> list[str]:
    """What the account's events are about, for choosing."""
    check_may_audit(actor)
    types = Event.objects.filter(account_id=actor.account_id).order_by().values_list("type", flat=True)
    return sorted({type.partition(".")[0] for type in types.distinct()})


def writers(actor: Actor) -> list[str]:
    """The credentials behind the account's events."""
    check_may_audit(actor)
    written = Event.objects.filter(account_id=actor.account_id).order_by().values_list("actor", flat=True)
    return sorted(written.distinct())


def open_download(actor: Actor, asked: Asked) -> Iterator[bytes]:
    """A JSON line for each, the earliest first, with both hashes: who has the file can work the chain out again.

    It is an event itself. The lines are to be read outside the account's transaction.
    """
    check_may_audit(actor)
    record_event(actor, "audit.downloaded", "account", typed_id("acc", actor.account_id))
    return _lines(actor, asked)


def _lines(actor: Actor, asked: Asked) -> Iterator[bytes]:
    last = 0
    while True:
        with tenant(actor.account_id):
            batch = list(_asked(actor, asked).filter(seq__gt=last).order_by("seq")[:BATCH])
        yield from (_line(event) for event in batch)
        if len(batch) < BATCH:
            return
        last = batch[-1].seq or 0


def _line(event: Event) -> bytes:
    hashes = {
        "previous_hash": bytes(event.previous_hash or b"").hex(),
        "hash": bytes(event.hash or b"").hex(),
    }
    return json.dumps({**event_line(event), **hashes}, ensure_ascii=False).encode() + b"\n"


def _asked(actor: Actor, asked: Asked) -> EventQuerySet:
    narrowed = Q()
    if asked.noun:
        narrowed &= Q(type__startswith=f"{asked.noun}.")
    if asked.by:
        narrowed &= Q(actor=asked.by)
    if asked.space:
        narrowed &= Q(space_id=asked.space)
    if asked.object:
        narrowed &= Q(object_id=asked.object)
    if asked.since:
        narrowed &= Q(at__gte=asked.since)
    if asked.until:
        narrowed &= Q(at__lt=asked.until)
    return Event.objects.filter(narrowed, account_id=actor.account_id).sealed()
