"""Statements written by hand, for what is asked all the time."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.db import connection

from memoryhub.common.postgres.base import DatabaseWrapper

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]


def rows_of(statement: str, values: Values) -> list[Row]:
    with _database().remembering_cursor() as cursor:
        cursor.execute(statement, values)
        return cast("list[Row]", cursor.fetchall())


def row_of(statement: str, values: Values) -> Row | None:
    """The first, if there is one."""
    return next(iter(rows_of(statement, values)), None)


def run(statement: str, values: Values) -> None:
    with _database().remembering_cursor() as cursor:
        cursor.execute(statement, values)


def _database() -> DatabaseWrapper:
    return cast("DatabaseWrapper", connection)
