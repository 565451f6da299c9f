import json
import pickle
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memoryhub.common import errors
from memoryhub.common.errors import (
    Conflict,
    HubError,
    InvalidRequest,
    NotFound,
    ValidationFailed,
    from_pydantic,
)

SENT = "s3cr3t-value"

TABLE = {
    (400, "invalid_request"),
    (401, "unauthorized"),
    (403, "forbidden"),
    (403, "reserved_namespace"),
    (404, "not_found"),
    (409, "conflict"),
    (409, "invalid_transition"),
    (409, "idempotency_conflict"),
    (409, "precondition_failed"),
    (409, "not_connected"),
    (410, "undo_expired"),
    (413, "payload_too_large"),
    (422, "validation_failed"),
    (422, "secret_rejected"),
    (429, "rate_limited"),
    (429, "quota_exceeded"),
    (500, "internal"),
    (503, "unavailable"),
}


def no_vowels(text: str) -> str:
    if "a" in text:
        raise ValueError("Must not contain the letter a.")
    return text


class Item(BaseModel):
    kind: Literal["fact", "decision"] = "fact"
    text: str = Field(min_length=1, max_length=10)


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(default="x", pattern="^[a-z]+$")
    limit: int = Field(default=20, ge=1, le=100)
    flag: bool = False
    score: float = Field(default=0, allow_inf_nan=False)
    items: list[Item] = Field(default=[], max_length=2)
    data: dict[str, int] = {}
    owner: UUID | None = Field(default=None, strict=False)
    quiet: Annotated[str, AfterValidator(no_vowels)] = ""


def refusal_of(
    arguments: dict[str, Any], model: type[BaseModel] = Arguments
) -> InvalidRequest | ValidationFailed:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(arguments)
    return from_pydantic(caught.value)


def test_every_code_of_the_table_is_an_error_with_its_status() -> None:
    assert {(kind.status, kind.code) for kind in HubError.__subclasses__()} == TABLE


def test_the_body_leaves_out_details_where_there_are_none() -> None:
    assert errors.Unauthorized("Send a key.").body() == {
        "error": {"code": "unauthorized", "message": "Send a key."}
    }


def test_the_body_carries_details_as_given() -> None:
    error = errors.Forbidden("The key lacks a scope.", missing_scopes=["memory:write"])
    assert error.body() == {
        "error": {
            "code": "forbidden",
            "message": "The key lacks a scope.",
            "details": {"missing_scopes": ["memory:write"]},
        }
    }


def test_not_found_says_the_same_whatever_was_looked_for() -> None:
    assert NotFound("memory").body() == {
        "error": {"code": "not_found", "message": "No memory with this id that you may read."}
    }


def test_a_conflict_says_what_was_expected_and_what_is_there() -> None:
    details = Conflict(
        "The record was changed. Read it again.", expected=1, actual=3, current={"v": 3}
    ).details
    assert details == {"expected": 1, "actual": 3, "current": {"v": 3}}


def test_a_conflict_keeps_a_null_beside_a_known_fact() -> None:
    assert Conflict("It was deleted.", expected=2).details == {"expected": 2, "actual": None, "current": None}


def test_a_conflict_about_no_version_has_no_details() -> None:
    assert Conflict("A space with this name exists.").details == {}


def test_validation_names_each_field_in_its_message() -> None:
    error = ValidationFailed(
        {"text": ["Must not be blank."], "tags[3]": ["Must be short.", "Must be a word."]}
    )
    assert error.message == "text: Must not be blank. tags[3]: Must be short. Must be a word."
    assert error.details == {
        "fields": {"text": ["Must not be blank."], "tags[3]": ["Must be short.", "Must be a word."]}
    }


def test_a_message_about_many_fields_stays_short_and_the_details_complete() -> None:
    error = ValidationFailed({f"f{n}": ["Is wrong."] for n in range(8)})
    assert error.message.endswith("f4: Is wrong. And 3 more fields.")
    assert len(error.fields) == 8


@pytest.mark.parametrize(
    "error",
    [NotFound("plan"), ValidationFailed({"a": ["Is wrong."]}), Conflict("Changed.", expected=1, actual=2)],
)
def test_an_error_survives_the_way_to_another_process(error: HubError) -> None:
    assert pickle.loads(pickle.dumps(error)).body() == error.body()


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"name": 5}, "name", "Must be a string."),
        ({"limit": "many"}, "limit", "Must be a whole number."),
        ({"limit": 1.5}, "limit", "Must be a whole number."),
        ({"limit": True}, "limit", "Must be a whole number."),
        ({"flag": "perhaps"}, "flag", "Must be true or false."),
        ({"items": SENT}, "items", "Must be a list."),
        ({"data": [1]}, "data", "Must be an object."),
        ({"items": [{"text": "a"}, {"text": 7}]}, "items[1].text", "Must be a string."),
        ({"data": {"a b": SENT}}, 'data["a b"]', "Must be a whole number."),
        ({"nmae": "x"}, "nmae", "Is not an argument of this tool. Check its spelling or leave it out."),
    ],
)
def test_a_wrong_type_or_an_unknown_argument_is_an_invalid_request(
    arguments: dict[str, Any], field: str, message: str
) -> None:
    refusal = refusal_of(arguments)
    assert isinstance(refusal, InvalidRequest)
    assert refusal.details == {"fields": {field: [message]}}
    assert refusal.message == f"{field}: {message}"


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"items": [{}]}, "items[0].text", "Is required. Send it."),
        ({"limit": 0}, "limit", "Must be at least 1."),
        ({"limit": 101}, "limit", "Must be at most 100."),
        ({"name": "A"}, "name", "Must match ^[a-z]+$."),
        ({"score": float("nan")}, "score", "Must be a finite number."),
        ({"items": [{"text": ""}]}, "items[0].text", "Must have at least 1 character."),
        ({"items": [{"text": "x" * 11}]}, "items[0].text", "Must have at most 10 characters. Shorten it."),
        ({"items": [{"text": "x"}] * 3}, "items", "Must have at most 2 items. Send fewer."),
        ({"items": [{"text": "x", "kind": SENT}]}, "items[0].kind", "Must be one of 'fact' or 'decision'."),
        ({"owner": SENT}, "owner", "Must be a UUID."),
        ({"quiet": "banana"}, "quiet", "Must not contain the letter a."),
    ],
)
def test_a_value_out_of_its_range_or_form_is_a_failed_validation(
    arguments: dict[str, Any], field: str, message: str
) -> None:
    refusal = refusal_of(arguments)
    assert isinstance(refusal, ValidationFailed)
    assert refusal.fields == {field: [message]}


def test_a_wrong_type_beside_a_wrong_value_is_an_invalid_request_that_names_both() -> None:
    refusal = refusal_of({"name": 5, "limit": 0})
    assert isinstance(refusal, InvalidRequest)
    assert refusal.details == {"fields": {"name": ["Must be a string."], "limit": ["Must be at least 1."]}}


@pytest.mark.parametrize("field", list(Arguments.model_fields))
@pytest.mark.parametrize("value", [SENT, [SENT], {SENT: SENT}, {"text": SENT}])
def test_no_refusal_repeats_a_value_that_was_sent(field: str, value: Any) -> None:
    try:
        Arguments.model_validate({field: value})
    except ValidationError as error:
        said = json.dumps(from_pydantic(error).body())
        assert SENT not in said.replace(f'[\\"{SENT}\\"]', "").replace(f".{SENT}", "")


def test_a_finding_nobody_foresaw_is_told_in_general_words() -> None:
    class Odd(BaseModel):
        value: Annotated[str, Field(pattern="x")] | Annotated[int, Field(ge=3)]

    class Url(BaseModel):
        value: Literal[1] | UUID

    assert SENT not in json.dumps(refusal_of({"value": SENT}, Odd).body())
    assert SENT not in json.dumps(refusal_of({"value": SENT}, Url).body())


def test_a_very_long_key_is_cut_in_the_path() -> None:
    field = next(iter(refusal_of({"data": {"k" * 5000: SENT}}).details["fields"]))  # type: ignore[call-overload]
    assert field == 'data["' + "k" * 60 + '\\u2026"]'
