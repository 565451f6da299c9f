"""The application without its own filters by account: what keeps teams apart then is PostgreSQL alone.

Every condition `account_id = …` on a table with row-level security is taken out of whatever SQL is sent, however it
was written; its parameter stays, and is compared with nothing.
"""

import re
from collections.abc import Callable
from typing import Any

from django.db.backends.utils import CursorWrapper

FILTER = re.compile(
    r"(?P<before>\b(?:where|and|or|on)\s+\(*|\()(?P<table>\"?\w+\"?)\.\"?account_id\"? = (?P<value>%s|%\(\w+\)s)",
    re.IGNORECASE,
)
BARE = re.compile(r"(?P<before>\b(?:where|and)\s+)account_id = (?P<value>%s|%\(\w+\)s)", re.IGNORECASE)
GLOBAL = ("accounts_membership", "accounts_agentkey", "accounts_invitation", "accounts_job", "accounts_grant")
"""Tables without row-level security, which the credential is looked up in before any account is in force."""


def stripped(sql: str) -> tuple[str, int]:
    """The statement, and how many filters it has lost."""
    if not isinstance(sql, str) or any(table in sql for table in GLOBAL):
        return sql, 0
    found, many = FILTER.subn(r"\g<before>(\g<value>::uuid is not null)", sql)
    found, more = BARE.subn(r"\g<before>(\g<value>::uuid is not null)", found)
    return found, many + more


def take_filters_out(patch: Callable[[Any, str, Any], None] = setattr) -> list[int]:
    """From now on, in this process. What is answered counts how many were taken out."""
    plain, taken = CursorWrapper.execute, [0]

    def execute(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        sql, many = stripped(sql)
        taken[0] += many
        return plain(self, sql, params)

    patch(CursorWrapper, "execute", execute)
    return taken
