"""What was said just before and just after, in the same session: an answer often stands next to what was found."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db import connection

# The order in a session is that of `occurred_at`; ids rise in the order of writing. Two look-ups for each.
ADJACENT = """
    select own.id, beside.id
      from spaces_memory own
     cross join lateral (
        (select id, space_id from spaces_memory
          where account_id = %(account)s and session = own.session and session <> ''
            and (occurred_at, id) < (own.occurred_at, own.id)
          order by occurred_at desc, id desc limit 1)
        union all
        (select id, space_id from spaces_memory
          where account_id = %(account)s and session = own.session and session <> ''
            and (occurred_at, id) > (own.occurred_at, own.id)
          order by occurred_at, id limit 1)
     ) as beside
     where own.account_id = %(account)s and own.id = any(%(ids)s)
       and beside.space_id is not distinct from own.space_id
"""


def adjacent(account_id: UUID, ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Memory → those right beside it in its session, of whatever kind and state."""
    found: dict[UUID, list[UUID]] = defaultdict(list)
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(ADJACENT, {"account": account_id, "ids": list(ids)})
            for own, beside in cursor.fetchall():
                found[own].append(beside)
    return found
