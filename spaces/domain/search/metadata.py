"""Memories by what their metadata hold: by containment, from an index."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import nfc

FIELDS, ALTERNATIVES = 20, 100


def holding(wanted: Mapping[str, Any]) -> Iterator[Q]:
    """One condition for each field: it holds the value, alone or in a list; with a list, any of its values.

    What a writer says under `tags` and `session_id` is a memory's own tags and session too, so that they find what
    was written in another dialect.
    """
    if len(wanted) > FIELDS:
        raise ValidationFailed({"metadata_filter": [f"Must have at most {FIELDS} fields."]})
    for name, value in wanted.items():
        values = value if isinstance(value, list) else [value]
        if len(values) > ALTERNATIVES:
            raise ValidationFailed({f"metadata_filter.{name}": [f"Must list at most {ALTERNATIVES} values."]})
        texts = [nfc(v) for v in values if isinstance(v, str)]
        match name:
            case "tags":
                yield Q(tags__overlap=texts) | _contained(name, values)
            case "session_id":
                yield Q(session__in=texts) | _contained(name, values)
            case _:
                yield _contained(name, values)


def _contained(name: str, values: list[Any]) -> Q:
    """Row-level security would keep the index from being used, so a function with its owner's rights reads it."""
    forms = [json.dumps({name: form}) for value in values for form in _forms(value)]
    return Q(
        RawSQL(
            '"spaces_memory"."ctid" = any(array(select hub_memories_with(%s::jsonb[])))',
            [forms],
            output_field=BooleanField(),
        )
    )


def _forms(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict | list) else [value, [value]]
