"""ZeroDB: a dump of stored memories, as JSON or as JSONL."""

from collections.abc import Iterable
from typing import Any

from memoryhub.flows.moving_in.statements import Statements, list_of, mapping_of, others, text_of

SYSTEM = "ZeroDB"
IDS = ("memory_id", "id")
KNOWN = (
    *IDS,
    "content",
    "role",
    "agent_id",
    "session_id",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
    "timestamp",
)
VECTORS = ("embedding", "vector", "vector_embedding")


def is_zerodb(first: Any) -> bool:
    return (
        isinstance(first, dict)
        and "content" in first
        and bool({"memory_id", "session_id", "role"} & first.keys())
    )


def rows_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list_of(value, "memories", "items", "data")
    return value if isinstance(value, list) else []


def read(rows: Iterable[tuple[int, Any]], path: str, beside: Any = None) -> Statements:
    """What the `user` said has that origin; everything else was an agent's."""
    found = Statements(SYSTEM, path)
    for number, row in rows:
        if not isinstance(row, dict):
            found.leave("entries that are no objects", "They have no fields to read.")
            continue
        if any(name in row for name in VECTORS):
            found.leave("vectors", "They are made anew, by the model that serves here.")
        role = text_of(row, "role")
        more = {
            **others(row, *KNOWN, *VECTORS),
            **mapping_of(row, "metadata"),
            **({"role": role} if role else {}),
        }
        found.add(
            number,
            text_of(row, *IDS) or f"{number}:{text_of(row, 'content')}",
            text_of(row, "content"),
            tags=list_of(row, "tags"),
            metadata=more,
            created_at=row.get("created_at") or row.get("timestamp"),
            updated_at=row.get("updated_at"),
            agent=row.get("agent_id"),
            session=row.get("session_id"),
            origin="user" if role == "user" else "agent",
        )
    for name in ("plans", "artifacts", "files", "tables", "vectors"):
        if isinstance(beside, dict) and (more_of_it := list_of(beside, name)):
            found.leave(name, "Only memories are taken from a dump.", len(more_of_it))
    return found
