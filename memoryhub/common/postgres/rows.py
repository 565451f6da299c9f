"""Objects from rows, and rows from objects, by statements whose plan the session keeps: what the ORM makes of its own
costs several times as much."""

import json
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import (
    BooleanField,
    CharField,
    DateTimeField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    TextField,
    UUIDField,
)

from memoryhub.common.postgres.statements import row_of

AS_THEY_ARE = {BooleanField, CharField, DateTimeField, ForeignKey, IntegerField, TextField, UUIDField}

M = TypeVar("M", bound=Model)


class Columns(Generic[M]):
    """Those of a model's table, in the order in which `read` takes their values. What is left out is read when it is
    asked for."""

    def __init__(self, model: type[M], *, without: Collection[str] = ()) -> None:
        fields = [field for field in model._meta.concrete_fields if field.name not in without]
        self._model = model
        self.names = [field.attname for field in fields]
        self._json = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]

    def read(self, row: Sequence[Any]) -> M:
        values = list(row)
        for place in self._json:
            values[place] = json.loads(values[place])
        return self._model.from_db(connection.alias, self.names, values)


def insert(row: Model, *, unless_there: bool = False) -> bool:
    """Store it with all that it holds. With `unless_there`, whether it was stored, which it was not where a row that
    must be unique is there already. No signals are sent."""
    values = [
        getattr(row, field.attname)
        if plain
        else field.get_db_prep_save(getattr(row, field.attname), connection)
        for field, plain in _fields(type(row))
    ]
    stored = row_of(_insertion(type(row), unless_there), values) is not None
    row._state.adding, row._state.db = not stored, connection.alias
    return stored


@cache
def _fields(model: type[Model]) -> list[tuple[Any, bool]]:
    """Each with whether the driver takes its values as they are."""
    return [(field, type(field) in AS_THEY_ARE) for field in model._meta.concrete_fields]


@cache
def _insertion(model: type[Model], unless_there: bool) -> str:
    columns = [connection.ops.quote_name(str(field.column)) for field in model._meta.concrete_fields]
    places = ", ".join(["%s"] * len(columns))
    but = "on conflict do nothing" if unless_there else ""
    table = connection.ops.quote_name(model._meta.db_table)
    return f"insert into {table} ({', '.join(columns)}) values ({places}) {but} returning true"  # noqa: S608
