"""What tells of something that is forgotten, and is reached along with it.

Out of summaries the sentences go, and candidates that wait for review go whole. Out of the ledger a phrase is cut; what
was paid stays, so that no sum becomes wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_events
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden
from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt, text_hash
from spaces.domain.capture.capturing import fold_hash
from spaces.domain.kinds import SAMPLE, Forgetting, Forgotten, Hit, Selection, in_batches
from spaces.domain.memories.access import require_write
from spaces.domain.phrases import cut_out, cut_sentences, cut_statement, holders
from spaces.domain.search.tokens import every_word, holds_all_words
from spaces.models import Capture, Memory, Reminder, Summary, SummaryItem, Transaction

PAID = {"item": 500, "category": 120, "merchant": 200, "payment_method": 120, "note": 2000}
"""Text of a transaction that a phrase is cut out of, and how long it may be."""
REMINDED = {"content": 2000}
NOTHING = Q(pk__in=[])


def find_summaries(actor: Actor, selection: Selection) -> list[Hit]:
    """Those whose text holds every word of the query, or says what they recorded in a memory that goes."""
    return [Hit(summary.id, excerpt(summary.text, SAMPLE)) for summary, _ in _cut_summaries(actor, selection)]


def erase_summaries(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    """What is left of one is no longer the same as what was once sent."""
    found, spaces = {hit.id for hit in hits}, dict[UUID, UUID | None]()
    for summary, left in _cut_summaries(actor, selection):
        if summary.id in found:
            digest = text_hash(f"{typed_id('sum', summary.id)} {left}")
            rows = Summary.objects.filter(account_id=actor.account_id, id=summary.id)
            rows.update(text=left, digest=digest)
            spaces[summary.id] = summary.space_id
    record_events(actor, "summary.redacted", "summary", _typed("sum", spaces))
    return Forgotten(redacted=len(spaces))


def _cut_summaries(actor: Actor, selection: Selection) -> Iterator[tuple[Summary, str]]:
    """Each that tells of it, with what is left of its text."""
    words, said = every_word(selection.query), _recorded(actor, selection)
    place = Q(space_id=selection.space.id) | (Q(space_id=None) if _may_change_account(actor) else NOTHING)
    reached = (place if words else NOTHING) | Q(id__in=list(said))
    for summary in in_batches(Summary.objects.filter(reached, account_id=actor.account_id)):
        left = cut_sentences(words, summary.text)
        for statement in said.get(summary.id, ()):
            left = cut_statement(statement, left)
        if left != summary.text:
            yield summary, left


def _recorded(actor: Actor, selection: Selection) -> dict[UUID, list[str]]:
    """Summary → the texts of what it recorded, of that which goes."""
    items = SummaryItem.objects.filter(account_id=actor.account_id, memory__in=selection.memories)
    said = dict[UUID, list[str]]()
    for summary, text in items.values_list("summary_id", "memory__text") if selection.memories else ():
        said.setdefault(summary, []).append(text)
    return said


def _may_change_account(actor: Actor) -> bool:
    try:
        require_write(actor, None)
    except Forbidden:
        return False
    return True


def find_captures(actor: Actor, selection: Selection) -> list[Hit]:
    """Those that hold every word of the query, or say what a memory says that goes."""
    words, said = every_word(selection.query), _folded(actor, selection)
    place = Q(space_id=selection.space.id) if words else NOTHING
    rows = Capture.objects.visible_to(actor).waiting().filter(place | Q(fold_hash__in=said))
    return [
        Hit(row.id, excerpt(row.text, SAMPLE))
        for row in in_batches(rows)
        if bytes(row.fold_hash) in said or holds_all_words(words, row.text)
    ]


def erase_captures(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    rows = Capture.objects.filter(account_id=actor.account_id, id__in=[hit.id for hit in hits]).waiting()
    spaces = dict(rows.order_by("id").select_for_update().values_list("id", "space_id"))
    rows.delete()
    record_events(actor, "capture.forgotten", "capture", _typed("cap", spaces))
    return Forgotten(deleted=len(spaces))


def _folded(actor: Actor, selection: Selection) -> list[bytes]:
    going = Memory.objects.filter(account_id=actor.account_id, id__in=selection.memories)
    return [fold_hash(text) for text in going.values_list("text", flat=True)] if selection.memories else []


def find_in_ledger(actor: Actor, selection: Selection) -> list[Hit]:
    """Transactions and reminders that hold the query as a phrase."""
    paid = Transaction.objects.visible_to(actor).inside(selection.space)
    due = Reminder.objects.visible_to(actor).inside(selection.space)
    held = holders(paid, selection.query, lambda row: [getattr(row, name) for name in PAID])
    reminded = holders(due, selection.query, lambda row: row.content)
    return [Hit(row.id, text) for row, text in held] + [
        Hit(row.id, text, prefix="rmd") for row, text in reminded
    ]


def erase_in_ledger(actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
    own = {"account_id": actor.account_id}
    paid = Transaction.objects.filter(**own, id__in=[hit.id for hit in hits if not hit.prefix])
    due = Reminder.objects.filter(**own, id__in=[hit.id for hit in hits if hit.prefix])
    spaces, reminded = dict[UUID, UUID](), dict[UUID, UUID]()
    for row in paid.order_by("id").select_for_update():
        Transaction.objects.filter(**own, id=row.id).update(**_left_of(row, selection.query, PAID))
        spaces[row.id] = row.space_id
    for reminder in due.order_by("id").select_for_update():
        left = _left_of(reminder, selection.query, REMINDED)
        rows = Reminder.objects.filter(**own, id=reminder.id)
        rows.update(**left, version=F("version") + 1, updated_at=timezone.now())
        reminded[reminder.id] = reminder.space_id
    record_events(actor, "ledger.redacted", "transaction", _typed("txn", spaces))
    record_events(actor, "ledger.redacted", "reminder", _typed("rmd", reminded))
    return Forgotten(redacted=len(spaces) + len(reminded))


def _left_of(row: Transaction | Reminder, phrase: str, fields: Mapping[str, int]) -> dict[str, Any]:
    return {name: cut_out(phrase, getattr(row, name), limit) for name, limit in fields.items()}


def _typed(prefix: str, spaces: Mapping[UUID, UUID | None]) -> dict[str, UUID | None]:
    return {typed_id(prefix, id): space for id, space in spaces.items()}


OF_SUMMARIES = Forgetting(
    scope="summaries",
    find=find_summaries,
    erase=erase_summaries,
    along="memories",
    reads=frozenset({Scope.MCP_READ, Scope.DECISIONS_READ}),
)
OF_CAPTURES = Forgetting(
    scope="captures",
    find=find_captures,
    erase=erase_captures,
    along="memories",
    reads=frozenset({Scope.MEMORY_READ}),
)
OF_THE_LEDGER = Forgetting(
    scope="ledger",
    find=find_in_ledger,
    erase=erase_in_ledger,
    along="records",
    reads=frozenset({Scope.LEDGER_READ}),
)
