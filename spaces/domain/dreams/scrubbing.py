"""What runs keep of texts, taken out when a text is gone for good: no image, proposal or note yields it again."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.text import nfc
from spaces.domain.kinds import Trace, in_batches
from spaces.domain.phrases import phrase_pattern, texts_in
from spaces.domain.search.tokens import every_word, holds_all_words
from spaces.models import DreamChange, DreamRun

Holds = Callable[[Any], bool]


def scrub(actor: Actor, trace: Trace) -> None:
    if trace.ids:
        _scrub_memories(actor.account_id, trace.ids)
    if trace.selection:
        _scrub_holders(actor.account_id, trace.selection.space.id, holder_of(trace))


def holder_of(trace: Trace) -> Holds:
    assert trace.selection is not None
    query = trace.selection.query
    if trace.words:
        words = every_word(query)
        return lambda value: bool(words) and holds_all_words(words, *texts_in(value))
    pattern = phrase_pattern(query)
    return lambda value: any(pattern.search(nfc(text)) for text in texts_in(value))


def _scrub_memories(account_id: UUID, ids: Iterable[UUID]) -> None:
    """Their images go, and what was proposed for them. A model that had read them may have quoted them in any
    reason or note of that run, so these go too."""
    gone = {id.hex for id in ids}
    changes = DreamChange.objects.filter(account_id=account_id)
    for change in changes.about([UUID(id) for id in gone]).order_by("id").select_for_update():
        change.before = [image for image in change.before if image["id"] not in gone]
        change.proposal = {}
        change.save(update_fields=["before", "proposal"])
    readers = DreamRun.objects.filter(account_id=account_id, input__has_any_keys=sorted(gone))
    told = changes.filter(run__in=readers, proposal__has_key="reason").exclude(proposal__reason="")
    for change in told.order_by("id").select_for_update(of=("self",)):
        change.proposal = {**change.proposal, "reason": ""}
        change.save(update_fields=["proposal"])
    readers.exclude(notes="").update(notes="")


def _scrub_holders(account_id: UUID, space_id: UUID, holds: Holds) -> None:
    runs = DreamRun.objects.filter(account_id=account_id, space_id=space_id)
    for change in in_batches(DreamChange.objects.filter(account_id=account_id, run__in=runs)):
        before = [image for image in change.before if not holds(image)]
        proposal = {} if holds(change.proposal) else change.proposal
        if len(before) < len(change.before) or proposal != change.proposal:
            change.before, change.proposal = before, proposal
            change.save(update_fields=["before", "proposal"])
    for run in in_batches(runs.exclude(notes="")):
        if holds(run.notes):
            run.notes = ""
            run.save(update_fields=["notes"])
