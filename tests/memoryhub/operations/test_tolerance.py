from typing import Any

import pytest

from memoryhub.operations.tolerance import tolerate

ARGUMENTS: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "tags": {"type": "array"},
    "data": {"type": "object"},
    "dry_run": {"type": "boolean"},
    "limit": {"type": "integer"},
    "score": {"type": "number"},
    "value": {},
}


@pytest.mark.parametrize(
    ("name", "sent", "read"),
    [
        ("tags", '["a", "b"]', ["a", "b"]),
        ("data", '{"stage": "new"}', {"stage": "new"}),
        ("dry_run", "true", True),
        ("dry_run", "false", False),
        ("limit", "20", 20),
        ("limit", "-1", -1),
        ("limit", 5.0, 5),
        ("score", "1", 1),
        ("text", '{"a": 1}', '{"a": 1}'),
        ("text", "true", "true"),
        ("value", '{"a": "b"}', '{"a": "b"}'),
        ("value", "true", "true"),
        ("value", None, None),
    ],
)
def test_text_is_read_as_the_type_that_the_schema_wants(name: str, sent: Any, read: Any) -> None:
    assert tolerate({name: sent}, ARGUMENTS) == {name: read}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("tags", "a,b"),
        ("tags", '{"a": 1}'),
        ("data", "[1]"),
        ("data", "{broken"),
        ("data", "[" * 100_000),
        ("dry_run", "yes"),
        ("dry_run", "True"),
        ("dry_run", 1),
        ("limit", "5.0"),
        ("limit", "5 "),
        ("limit", "9" * 19),
        ("limit", True),
        ("limit", 5.5),
        ("limit", "０"),
    ],
)
def test_what_has_no_plain_reading_is_left_for_validation_to_refuse(name: str, sent: Any) -> None:
    assert tolerate({name: sent}, ARGUMENTS) == {name: sent}


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - {"value"}))
def test_null_is_an_absent_argument(name: str) -> None:
    assert tolerate({name: None}, ARGUMENTS) == {}


def test_null_inside_an_object_stays() -> None:
    assert tolerate({"data": {"owner": None}}, ARGUMENTS) == {"data": {"owner": None}}
