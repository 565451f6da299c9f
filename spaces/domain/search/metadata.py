"""Memories by what their metadata hold: by containment, from an index."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import nfc

Condition = tuple[str, dict[str, Any]]
"""Of columns of spaces_memory, with the values that it names."""

FIELDS, ALTERNATIVES = 20, 100


def holding(wanted: Mapping[str, Any]) -> Iterator[Condition]:
    """One condition for each field: it holds the value, alone or in a list; with a list, any of its values.

    What a writer says under `tags` and `session_id` is a memory's own tags and session too, so that they find what
    was written in another dialect.
    """
    if len(wanted) > FIELDS:
        raise ValidationFailed({"metadata_filter": [f"Must have at most {FIELDS} fields."]})
    for number, (name, value) in enumerate(wanted.items()):
        values = value if isinstance(value, list) else [value]
        if len(values) > ALTERNATIVES:
            raise ValidationFailed({f"metadata_filter.{name}": [f"Must list at most {ALTERNATIVES} values."]})
        yield _held(name, values, f"held{number}", f"said{number}")


def _held(name: str, values: list[Any], held: str, said: str) -> Condition:
    """Row-level security would keep the index from being used, so a function with its owner's rights reads it."""
    contained = f"spaces_memory.ctid = any(array(select hub_memories_with(%({held})s::jsonb[])))"
    forms = [json.dumps({name: form}) for value in values for form in _forms(value)]
    texts = [nfc(value) for value in values if isinstance(value, str)]
    match name:
        case "tags":
            own = f"spaces_memory.tags && %({said})s::varchar[] or "
        case "session_id":
            own = f"spaces_memory.session = any(%({said})s::varchar[]) or "
        case _:
            return contained, {held: forms}
    return own + contained, {held: forms, said: texts}


def _forms(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict | list) else [value, [value]]
