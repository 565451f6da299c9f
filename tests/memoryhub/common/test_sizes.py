"""What is too large is refused by its field, at once, before anything has gone over it."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

import memoryhub.operations.catalogue  # noqa: F401 (registers every operation)
from accounts.scopes import Scope
from memoryhub.common import sizes
from memoryhub.common.errors import HubError, PayloadTooLarge, ValidationFailed
from memoryhub.common.secrets import cut, find
from memoryhub.common.sizes import LONGEST, PLAIN, check_longest, check_sizes
from memoryhub.operations import screening
from memoryhub.operations.base import REGISTRY
from tests.calls import refused
from tests.conftest import Cast

HUGE = "the password is kept by Ann and " * 26_000
SOON = 0.5
"""Seconds of computing."""


@pytest.mark.parametrize(
    ("sent", "schema", "path"),
    [
        ({"a": "x" * 11}, {"type": "string", "maxLength": 10}, "a"),
        ({"a": "x" * (PLAIN + 1)}, {"type": "string"}, "a"),
        ({"a": ["x", "x" * 6]}, {"type": "array", "items": {"type": "string", "maxLength": 5}}, "a[1]"),
        ({"a": ["x"] * 3}, {"type": "array", "maxItems": 2, "items": {"type": "string"}}, "a"),
        ({"a": {"b": "x" * 9}}, {"type": "object", "properties": {"b": {"maxLength": 8}}}, "a.b"),
        ({"a": {"c": "x" * (LONGEST + 1)}}, {"type": "object", "properties": {"b": {"maxLength": 8}}}, "a"),
        ({"a": {"b": ["x" * 1024] * 257}}, {"type": "object"}, "a"),
        ({"a": {"x" * (LONGEST + 1): 1}}, {}, "a"),
    ],
)
def test_each_is_held_to_its_schema(sent: dict[str, Any], schema: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_sizes(sent, {"a": schema})
    assert list(refusal.value.fields) == [path]


def test_blanks_around_a_text_and_what_fits_are_let_through() -> None:
    check_sizes({"a": f"  {'x' * 10}  "}, {"a": {"type": "string", "maxLength": 10}})
    check_sizes({"a": {"b": "x" * (LONGEST - 1)}}, {"a": {"type": "object"}})
    check_longest({"a": ["x" * LONGEST] * 4})


def test_a_name_that_nobody_knows_is_not_repeated() -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_sizes({"hunter2hunter2": "x" * (LONGEST + 1)}, {})
    assert "hunter2" not in str(refusal.value.body())


@pytest.mark.parametrize(
    "value", ["x" * (LONGEST + 1), {"a": ["x" * (LONGEST + 1)]}, {"x" * (LONGEST + 1): 1}]
)
def test_what_has_no_schema_has_an_end_too(value: Any) -> None:
    with pytest.raises(PayloadTooLarge):
        check_longest(value)


@pytest.mark.usefixtures("inside")
def test_no_argument_of_any_operation_is_walked_at_a_megabyte(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them gets as far as the walk: it fails where the walk is reached with it."""

    def walk(sent: Any) -> Any:
        assert sum(map(len, sizes.strings(sent))) <= LONGEST, "a walk over what is too large"
        return cut(sent)

    monkeypatch.setattr(screening, "cut", walk)
    actor = replace(cast.agent, scopes=frozenset(Scope))
    arguments = [(o.over_rest, name) for o in REGISTRY.all() for name in o.over_rest.arguments]
    assert len(arguments) > 200
    for operation, name in arguments:
        for value in (HUGE, [HUGE], {"a": HUGE}, {HUGE: 1}):
            by_itself = name == operation.input.each and isinstance(
                value, list
            )  # its refusal is in the answer
            with nullcontext() if by_itself else pytest.raises(HubError):
                operation(actor, {name: value})


@pytest.mark.usefixtures("inside")
def test_a_text_of_a_megabyte_is_refused_by_its_field_at_once(cast: Cast) -> None:
    began = time.process_time()
    error = refused(cast.agent, "remember", text=HUGE)
    assert time.process_time() - began < SOON
    assert (error["code"], list(error["details"]["fields"])) == ("validation_failed", ["text"])


@pytest.mark.parametrize(
    "piece",
    ["Ann keeps it. ", "Żółw pije herbatę. ", "東京は晴れ。", "password: ", "token = ", "pass ", '{"secret": ',
     "a|secret|", "-----BEGIN PRIVATE KEY-----", "&token", "%41", "\\u0041", "https://a:b@", "\n\n", "the key is ",
     "?token=a&", "secret=«"],
)  # fmt: skip
def test_twice_the_text_takes_about_twice_the_time(piece: str) -> None:
    def needed(size: int) -> float:
        text = piece * (size // len(piece))
        return min(_timed(text) for _ in range(3))

    small, large = needed(10_000), needed(40_000)
    assert large < max(10 * small, 0.15), f"{small:.3f} s, then {large:.3f} s for four times as much"


@pytest.mark.parametrize(
    "piece", ["secret=x", "token=", "token===", "密码是", "?token=a&", "password=x,pw=y,"]
)
def test_a_line_of_names_and_signs_without_an_end_is_soon_looked_through(piece: str) -> None:
    """What follows each of them is one value as far as the next blank: thousands that all are long."""
    assert min(_timed(piece * (12_000 // len(piece))) for _ in range(3)) < SOON


def test_thousands_of_secrets_as_names_stay_apart_in_about_the_time_that_finding_them_takes() -> None:
    names = [f"password=Ab1xZ9{number:06}qW" for number in range(3_000)]
    assert list(cut(dict.fromkeys(names)).value)[-1].endswith(" 3000")
    alone = _spent(lambda: cut(names))
    assert _spent(lambda: cut(dict.fromkeys(names))) < 4 * alone + 0.1


def _spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _timed(text: str) -> float:
    began = time.process_time()
    find(text)
    return time.process_time() - began
