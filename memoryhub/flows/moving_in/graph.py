"""The reference MCP memory server: a JSONL of entities with observations, and of relations between them."""

from collections.abc import Iterable
from typing import Any

from memoryhub.flows.moving_in.statements import Statements, list_of, others, text_of
from spaces.domain.kinds import Row

SYSTEM = "MCP memory server"
ENTITY, RELATION = "entity", "relation"


def is_graph(first: Any) -> bool:
    return isinstance(first, dict) and first.get("type") in (ENTITY, RELATION)


def read(lines: Iterable[tuple[int, Any]], path: str) -> Statements:
    """An observation becomes a memory about its entity; a relation becomes one that says it."""
    found = Statements(SYSTEM, path)
    for number, row in lines:
        if not isinstance(row, dict) or row.get("type") not in (ENTITY, RELATION):
            found.leave("lines of another type", "Only entities and relations are known.")
        elif row["type"] == ENTITY:
            _entity(found, number, row)
        else:
            _relation(found, number, row)
    return found


def _entity(found: Statements, number: int, row: Row) -> None:
    name, kind = text_of(row, "name"), text_of(row, "entityType")
    about: dict[str, Any] = {"subject": name, "topics": [kind] if kind else []}
    more = others(row, "type", "name", "entityType", "observations")
    observations = [said for said in list_of(row, "observations") if isinstance(said, str)]
    if len(observations) < len(list_of(row, "observations")):
        found.leave("observations that are no text", "A memory is a text.")
    for said in observations:
        found.add(number, f"{name}:{said}", said, metadata=more, **about)
    if not observations:
        found.add(number, name, f"{name} ({kind})" if kind else name, metadata=more, **about)


def _relation(found: Statements, number: int, row: Row) -> None:
    ends = [text_of(row, name) for name in ("from", "relationType", "to")]
    link = {"relation": ends[1], "to": ends[2]}
    more = others(row, "type", "from", "relationType", "to")
    found.add(number, " ".join(ends), " ".join(ends), subject=ends[0], links=[link], metadata=more)
