"""What is a result, and what is none."""

from typing import Any

import jsonschema
import pytest

from memoryhub.common.errors import ValidationFailed
from spaces.domain.dreams.shape import output_schema, read_result

NEVER = [
    [{"op": "merge", "text": "", "reason": ""}],
    [{"op": "merge", "ids": ["a"], "text": "x", "reason": ""}],
    [{"op": "merge", "ids": list("abcdefghi"), "text": "x", "reason": ""}],
    [{"op": "merge", "ids": ["a", "a"], "text": "x", "reason": ""}],
    [{"op": "drop", "reason": ""}],
    [{"op": "drop", "id": None, "reason": ""}],
    [{"op": "drop", "id": "a"}],
    [{"op": "drop", "id": ["a"], "reason": ""}],
    [{"op": "forget", "id": "a", "reason": ""}],
    [{"op": "retier", "id": "a", "tier": "top", "reason": ""}],
    [{"op": "expire", "id": "a", "expires_at": "", "reason": ""}],
    [{"op": "add", "text": "x", "tier": "core", "source_ids": ["a"], "reason": ""}],
    [{"op": "add", "text": "x", "source_ids": [], "reason": ""}],
    [{"id": "a", "reason": ""}],
    ["drop everything"],
    {"op": "drop", "id": "a", "reason": ""},
    "[]",
    None,
]
ALWAYS = [
    [],
    [{"op": "merge", "ids": ["a", "b"], "text": "x", "reason": "", "tags": ["t"], "tier": "core"}],
    [{"op": "merge", "ids": ["a", "b"], "text": "x", "reason": "", "pinned": True}],
    [{"op": "update", "id": "a", "reason": ""}],
    [{"op": "retier", "id": "a", "tier": "scratch", "reason": ""}],
    [{"op": "expire", "id": "a", "expires_at": "2099-01-01", "reason": ""}],
    [{"op": "add", "text": "x", "source_ids": ["a"], "reason": ""}],
    [{"op": "drop", "id": "a", "reason": ""}] * 300,
]


def keeps_to_the_schema(result: Any) -> bool:
    return jsonschema.Draft202012Validator(output_schema()).is_valid(result)


@pytest.mark.parametrize("changes", NEVER)
def test_another_shape_is_refused_as_the_schema_says(changes: Any) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_result({"changes": changes})
    assert all(name.startswith("result.changes") for name in caught.value.fields)
    assert not keeps_to_the_schema({"changes": changes})


@pytest.mark.parametrize("changes", ALWAYS)
def test_a_result_of_the_schema_is_read(changes: list[Any]) -> None:
    assert keeps_to_the_schema({"changes": changes})
    assert [change.number for change in read_result({"changes": changes})[0]] == list(range(len(changes)))


@pytest.mark.parametrize("text", [" ", "\u200b\u2060", "\n"])
def test_a_text_that_shows_nothing_is_none(text: str) -> None:
    with pytest.raises(ValidationFailed):
        read_result({"changes": [{"op": "merge", "ids": ["a", "b"], "text": text, "reason": ""}]})


def test_a_result_without_changes_is_none() -> None:
    for result in ({}, {"change": []}, {"changes": [], "notes": 7}):
        with pytest.raises(ValidationFailed):
            read_result(result)


def test_the_schema_has_no_references() -> None:
    assert "$ref" not in str(output_schema())
    jsonschema.Draft202012Validator.check_schema(output_schema())
