"""Making anew what memories are found by, after the way of making it has changed."""

from collections.abc import Iterator
from uuid import UUID

from accounts.models import Account
from memoryhub.common.tenancy import tenant
from spaces.domain.search.indexing import SEARCH_VERSION, index_fields
from spaces.models import Memory

BATCH = 500


def rebuild_all_search_fields(*, everything: bool = False) -> int:
    """`rebuild_search_fields` for one account after the other."""
    accounts = list(Account.objects.order_by("id").values_list("id", flat=True))
    return sum(rebuild_search_fields(account_id, everything=everything) for account_id in accounts)


def rebuild_search_fields(account_id: UUID, *, everything: bool = False) -> int:
    """Of the memories whose fields are of an older version, or of `everything`. Answers how many that were.

    In batches, each its own transaction: it may be stopped and started again, beside any other work.
    """
    return sum(_batches(account_id, everything))


def _batches(account_id: UUID, everything: bool) -> Iterator[int]:
    last = UUID(int=0)
    while True:
        with tenant(account_id):
            batch = _next(account_id, last, everything)
            for memory in batch:
                Memory.objects.filter(id=memory.id).update(**index_fields(memory, memory.space))
        if not batch:
            return
        yield len(batch)
        last = batch[-1].id


def _next(account_id: UUID, last: UUID, everything: bool) -> list[Memory]:
    """Locked: an edit waits, so that what is made from the older text doesn't replace its own."""
    rows = Memory.objects.filter(account_id=account_id, id__gt=last).select_related("space").order_by("id")
    outdated = rows if everything else rows.exclude(search_version=SEARCH_VERSION)
    return list(outdated.select_for_update(of=("self",), no_key=True)[:BATCH])
