"""What is too large is refused before anything goes over it: looking for secrets costs by the length."""

from collections.abc import Iterator, Mapping
from typing import Any

from memoryhub.common.complaints import WRONG_VALUE
from memoryhub.common.errors import PayloadTooLarge, ValidationFailed
from memoryhub.common.secrets.walking import strings

LONGEST = 256 * 1024
"""Characters of one text, and of one JSON value that no schema describes. Whatever takes it has closer limits."""
PLAIN = 50_000
"""Characters of a text whose argument names no limit."""

Schemas = Mapping[str, Mapping[str, Any]]


def check_sizes(sent: Mapping[str, Any], schemas: Schemas) -> None:
    """Refuses what is larger than its schema allows, by its argument: no name that was sent is repeated."""
    for name, value in sent.items():
        for path, complaint in _faults(
            value, schemas.get(name, {}), name if name in schemas else "arguments"
        ):
            raise ValidationFailed({path: [complaint]})


def check_count(items: list[Any], schema: Mapping[str, Any], name: str) -> None:
    if len(items) > schema.get("maxItems", len(items)):
        raise ValidationFailed({name: [_too_many(schema["maxItems"])]})


def check_longest(value: Any) -> None:
    """For what comes without a schema: the fields of a page, the rows of a file."""
    if any(len(text) > LONGEST for text in strings(value)):
        raise PayloadTooLarge(f"A text in it has more than {LONGEST} characters. Shorten it.", limit=LONGEST)


def _faults(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        longest = schema.get("maxLength", PLAIN if schema.get("type") == "string" else LONGEST)
        if len(value) > longest and len(value.strip()) > longest:
            yield path, WRONG_VALUE["string_too_long"].format(max_length=longest)
    elif isinstance(value, list) and "items" in schema:
        if len(value) > schema.get("maxItems", len(value)):
            yield path, _too_many(schema["maxItems"])
        for index, item in enumerate(value):
            yield from _faults(item, schema["items"], f"{path}[{index}]")
    elif isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            known = schema["properties"].get(name)
            yield from _faults(member, known or {}, f"{path}.{name}" if known else path)
    elif isinstance(value, dict | list) and sum(map(len, strings(value))) > LONGEST:
        yield (
            path,
            f"Must have at most {LONGEST // 1024} KiB of JSON. Keep large content elsewhere and refer to it.",
        )


def _too_many(most: int) -> str:
    return WRONG_VALUE["too_long"].format(max_length=most)
