"""The account in force, and what makes a table keep to it.

Tenant models have a plain `id` for Django; in the database their primary key is (account_id, id), their
references to each other carry the account, and row-level security shows the application's login only the rows
of the account in force.
"""

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import truncate_name
from django.db.migrations.operations import RunSQL
from psycopg.errors import DeadlockDetected

from memoryhub.common.postgres.statements import rows_of

APP_ROLE = "hub_app"
OWNER_ROLE = "hub_owner"
SETTING = "hub.account_id"
ACCOUNT_IN_FORCE = f"(select nullif(current_setting('{SETTING}', true), '')::uuid)"

OnDelete = Literal["CASCADE", "SET NULL", "RESTRICT", "NO ACTION"]
ForeignKey = tuple[str, str, OnDelete]

PUT_IN_FORCE = f"select current_setting('{SETTING}', true), set_config('{SETTING}', %s, true)"

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
MAX_NAME = 63
MOST_RETRIES = 4

T = TypeVar("T")


@contextmanager
def tenant(account_id: uuid.UUID) -> Iterator[None]:
    """A transaction in which only this account's rows exist.

    Nothing lazy may leave it: a queryset read afterwards is empty. It may be nested; on leaving, the outer
    account is in force again.
    """
    nested = connection.in_atomic_block
    with transaction.atomic():
        former = _put_in_force(str(account_id))
        yield
        if nested:  # An error needs no care: rolling back, PostgreSQL restores the setting itself.
            _put_in_force(former)


def in_tenant(account_id: uuid.UUID, act: Callable[[], T]) -> T:
    """What `act` answers inside `tenant()`. Where PostgreSQL ended it because it and another waited for each other,
    it runs again from the start: nothing of it was kept."""
    for _ in range(MOST_RETRIES):
        try:
            with tenant(account_id):
                return act()
        except OperationalError as error:
            if connection.in_atomic_block or not isinstance(error.__cause__, DeadlockDetected):
                raise
    with tenant(account_id):
        return act()


@contextmanager
def snapshot(account_id: uuid.UUID) -> Iterator[None]:
    """`tenant()` in which every query sees the same moment. Inside another transaction it is what that one is."""
    nested = connection.in_atomic_block
    with transaction.atomic():
        if not nested:
            with connection.cursor() as cursor:
                cursor.execute("set transaction isolation level repeatable read, read only")
        with tenant(account_id):
            yield


def _put_in_force(account_id: str) -> str:
    """Sets the account until the transaction ends, and answers the one before ("" for none)."""
    ((former, _),) = rows_of(PUT_IN_FORCE, [account_id])
    return former or ""


def tenant_table(table: str, foreign_keys: Sequence[ForeignKey] = ()) -> list[RunSQL]:
    """Migration operations that follow the table's CreateModel, in the same migration.

    A foreign key is (column, referenced tenant table, what a delete there does). It is checked at commit, and
    a null column refers to nothing. On the model it is declared with `db_constraint=False, db_index=False`
    and an explicit index on (account, column).
    """
    keys = [foreign_key(table, *key) for key in foreign_keys]
    return [_primary_key(table), *keys, _row_security(table), *_policies(table)]


def _primary_key(table: str) -> RunSQL:
    def change(columns: str) -> str:
        return (
            f"ALTER TABLE {_quoted(table)} DROP CONSTRAINT {_quoted(f'{table}_pkey')}, "
            f"ADD CONSTRAINT {_quoted(f'{table}_pkey')} PRIMARY KEY ({columns})"
        )

    return RunSQL([change("account_id, id")], [change("id")])


def foreign_key(table: str, column: str, referenced: str, on_delete: OnDelete) -> RunSQL:
    """Of a column that came later than its table; `tenant_table` makes those of a new one."""
    name = _quoted(truncate_name(f"{table}_{column}_fk", MAX_NAME))
    # Without the column list SET NULL would clear the account too.
    action = f"SET NULL ({_quoted(column)})" if on_delete == "SET NULL" else on_delete
    return RunSQL(
        [
            f"ALTER TABLE {_quoted(table)} ADD CONSTRAINT {name} "
            f"FOREIGN KEY (account_id, {_quoted(column)}) REFERENCES {_quoted(referenced)} (account_id, id) "
            f"ON DELETE {action} DEFERRABLE INITIALLY DEFERRED"
        ],
        [f"ALTER TABLE {_quoted(table)} DROP CONSTRAINT {name}"],
    )


def _row_security(table: str) -> RunSQL:
    """Forced, so that the tables' owner keeps to policies too."""
    name = _quoted(table)
    return RunSQL(
        [f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY", f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY"],
        [f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY", f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY"],
    )


def _policies(table: str) -> list[RunSQL]:
    return [
        _policy(table, "tenant", APP_ROLE, f"account_id = {ACCOUNT_IN_FORCE}"),
        _policy(table, "owner", OWNER_ROLE, "true"),
    ]


def _policy(table: str, name: str, role: str, rule: str) -> RunSQL:
    return RunSQL(
        [f"CREATE POLICY {name} ON {_quoted(table)} TO {role} USING ({rule}) WITH CHECK ({rule})"],
        [f"DROP POLICY {name} ON {_quoted(table)}"],
    )


def _quoted(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(f"Not a plain lower-case table, column or constraint name: {name!r}")
    return f'"{name}"'
