"""What migrations say in SQL."""

from collections.abc import Sequence

from django.db.migrations.operations import RunSQL

from memoryhub.common.tenancy import APP_ROLE

# Which columns of an action change as it goes its way; all that was proposed is written once.
MOVING = (
    "status",
    "revision",
    "expires_at",
    "updated_at",
    "decided_at",
    "claimed_by",
    "claimed_at",
    "finished_at",
    "receipt",
    "reason",
)


def written_once(table: str, but_for: Sequence[str] = ()) -> RunSQL:
    """The application's login can't alter what a person consents to, nor the record of their consent."""
    allowed = [f"GRANT UPDATE ({', '.join(but_for)}) ON {table} TO {APP_ROLE}"] if but_for else []
    return RunSQL(
        [f"REVOKE UPDATE ON {table} FROM {APP_ROLE}", *allowed], [f"GRANT UPDATE ON {table} TO {APP_ROLE}"]
    )


def also_updatable(table: str, columns: Sequence[str]) -> RunSQL:
    """Columns that came later, to a table of which most is written once."""
    named = ", ".join(columns)
    return RunSQL(
        [f"GRANT UPDATE ({named}) ON {table} TO {APP_ROLE}"],
        [f"REVOKE UPDATE ({named}) ON {table} FROM {APP_ROLE}"],
    )
