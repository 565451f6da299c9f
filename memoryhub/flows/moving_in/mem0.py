"""mem0: the JSON that `get_all` and the memory export answer with."""

from typing import Any

from django.utils import timezone

from memoryhub.common.times import format_time
from memoryhub.flows.moving_in.statements import (
    Statements,
    list_of,
    mapping_of,
    objects,
    others,
    text_of,
)

SYSTEM = "mem0"
KNOWN = (
    "id",
    "memory",
    "categories",
    "metadata",
    "created_at",
    "updated_at",
    "agent_id",
    "run_id",
    "expiration_date",
)


def is_mem0(value: Any) -> bool:
    rows = _rows(value)
    return bool(rows) and isinstance(rows[0], dict) and "memory" in rows[0]


def read(value: Any, path: str) -> Statements:
    found = Statements(SYSTEM, path)
    for number, row in objects(_rows(value), found):
        more = {**others(row, *KNOWN, "hash"), **mapping_of(row, "metadata")}
        until = found.moment(row.get("expiration_date"), more, "expiration_date")
        if until and until <= format_time(timezone.now()):
            found.leave("memories that had expired there", "What has expired is gone.")
            continue
        found.add(
            number,
            text_of(row, "id") or text_of(row, "memory"),
            text_of(row, "memory"),
            tags=list_of(row, "categories"),
            metadata=more,
            created_at=row.get("created_at"),
            updated_at=row.get("updated_at"),
            agent=row.get("agent_id"),
            session=row.get("run_id"),
            **({"expires_at": until} if until else {}),
        )
    _rest(found, value)
    return found


def _rows(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list_of(value, "results", "memories")
    return value if isinstance(value, list) else []


def _rest(found: Statements, value: Any) -> None:
    """A graph store's relations come beside the results."""
    for relation in list_of(value, "relations") if isinstance(value, dict) else []:
        if isinstance(relation, dict):
            ends = [
                text_of(relation, *names)
                for names in (("source",), ("relationship", "relation"), ("target", "destination"))
            ]
            said = " ".join(end.replace("_", " ") for end in ends)
            found.add(
                0, f"relation:{said}", said, subject=ends[0], links=[{"relation": ends[1], "to": ends[2]}]
            )
