"""OpenMemory: the `memories.json` of its backup, with users, apps and categories beside the memories."""

from typing import Any

from memoryhub.flows.moving_in.statements import (
    Statements,
    list_of,
    mapping_of,
    objects,
    others,
    text_of,
)

SYSTEM = "OpenMemory"
FILE = "memories.json"
KNOWN = (
    "id",
    "user_id",
    "app_id",
    "content",
    "metadata",
    "state",
    "created_at",
    "updated_at",
    "category_ids",
)
BESIDE = {
    "user": "Whose they were is not asked here.",
    "status_history": "Only what holds now is taken.",
    "access_controls": "Who may read is decided by the space.",
    "export_meta": "It describes the file.",
}


def is_openmemory(value: Any) -> bool:
    rows = list_of(value, "memories") if isinstance(value, dict) else []
    return bool(rows) and isinstance(rows[0], dict) and {"content", "state"} <= rows[0].keys()


def read(value: dict[str, Any], path: str) -> Statements:
    """Paused and archived ones come as superseded: kept, and out of ordinary searches, as they were there."""
    found = Statements(SYSTEM, path)
    apps, categories = _names(value, "apps"), _names(value, "categories")
    for number, row in objects(value["memories"], found):
        state = text_of(row, "state") or "active"
        if state == "deleted":
            found.leave("memories that were deleted there", "Deleted is gone.")
            continue
        more = {
            **others(row, *KNOWN),
            **mapping_of(row, "metadata"),
            **({} if state == "active" else {"state": state}),
        }
        named = [categories.get(str(id), str(id)) for id in list_of(row, "category_ids")]
        found.add(
            number,
            text_of(row, "id") or text_of(row, "content"),
            text_of(row, "content"),
            tags=[*named, *list_of(row, "categories")],
            metadata=more,
            created_at=row.get("created_at"),
            updated_at=row.get("updated_at"),
            agent=apps.get(str(row.get("app_id")), ""),
            status="active" if state == "active" else "superseded",
        )
    for name, why in BESIDE.items():
        if beside := value.get(name):
            found.leave(name, why, len(beside) if isinstance(beside, list) else 1)
    return found


def _names(value: dict[str, Any], name: str) -> dict[str, str]:
    return {str(row.get("id")): text_of(row, "name") for row in list_of(value, name) if isinstance(row, dict)}
