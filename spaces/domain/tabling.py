"""A collection as CSV: a line for each record, and a column for each field that any of them has.

A spreadsheet runs what begins like a formula. Such a cell gets an apostrophe in front, and is then only read.
"""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from django.db import connection

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import snapshot
from memoryhub.common.times import format_time
from spaces.domain.checks import check_name
from spaces.domain.kinds import in_batches
from spaces.domain.records import COLLECTION, due_text
from spaces.models import Record, Space

RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
OWN = ("id", "key", "status", "due_at", "version", "written_by", "created_at", "updated_at")
MOST_COLUMNS = 500
PIECE = 64 * 1024
NAMES = """
    select distinct name from spaces_record, jsonb_object_keys(data) as name
     where account_id = %s and space_id = %s and collection = %s order by name limit %s
"""


def stream_csv(actor: Actor, space: Space, collection: str) -> Iterator[bytes]:
    """UTF-8 with its mark, which Excel needs. The space is one that the actor has been let into."""
    check_name(collection, COLLECTION, "collection")
    return _lines(actor, space, collection)


def _lines(actor: Actor, space: Space, collection: str) -> Iterator[bytes]:
    with snapshot(actor.account_id):
        names = _names(space, collection)
        text = io.StringIO("\ufeff")
        text.seek(0, io.SEEK_END)
        writer = csv.writer(text)
        writer.writerow([*OWN, *map(harmless, names)])
        rows = Record.objects.visible_to(actor).inside(space).filter(collection=collection)
        for record in in_batches(rows):
            writer.writerow([*_own(record), *(harmless(record.data.get(name)) for name in names)])
            if text.tell() > PIECE:
                yield _taken(text)
        yield _taken(text)


def harmless(value: Any) -> str:
    """A cell that no spreadsheet runs. Numbers stay numbers; what is nested is JSON."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.lstrip(" ").startswith(RUN) else text


def _own(record: Record) -> list[str]:
    told = [typed_id("rec", record.id), record.key, record.status, due_text(record), record.version]
    written = [record.written_by, format_time(record.created_at), format_time(record.updated_at)]
    return [harmless(value) for value in (*told, *written)]


def _names(space: Space, collection: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(NAMES, [space.account_id, space.id, collection, MOST_COLUMNS])
        return [name for (name,) in cursor.fetchall()]


def _taken(text: io.StringIO) -> bytes:
    piece = text.getvalue()
    text.seek(0)
    text.truncate()
    return piece.encode()
