"""Made-up requests from outside, over a socket, to a server in a process of its own: whoever asks, none is a fault of
ours, and every answer is what the document that this server gives out says it is."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from tests.cases.test_openapi import CHECKS
from tests.conftest import Cast, make_key

SHORT, LONG = 5, 60
MODES = st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
WITHOUT = {"wait": 0}
"""An event that doesn't come is not waited for."""


@pytest.fixture
def key(cast: Cast) -> dict[str, str]:
    return {"Authorization": f"Bearer {make_key(cast.owner, cast.space)[1]}"}


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
def test_every_request_with_a_key_is_answered_as_the_document_says(
    live_hub: str, key: dict[str, str], examples: int
) -> None:
    assert min(ask_everything(live_hub, key, examples)) < 300


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
def test_every_request_without_a_key_is_refused_as_the_document_says(live_hub: str, examples: int) -> None:
    assert min(ask_everything(live_hub, {}, examples)) >= 400


def ask_everything(hub: str, headers: dict[str, str], examples: int) -> Iterator[int]:
    """The status of every answer."""
    for found in schemathesis.openapi.from_url(f"{hub}/v1/openapi.json").get_all_operations():
        yield from ask(found.ok(), headers, examples)


def ask(operation: Any, headers: dict[str, str], examples: int) -> list[int]:
    answers = []

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=MODES.flatmap(lambda mode: operation.as_strategy(generation_mode=mode)))
    def each(case: schemathesis.Case) -> None:
        case.query.update({name: value for name, value in WITHOUT.items() if name in case.query})
        answer = case.call(headers=headers)
        case.validate_response(answer, checks=CHECKS)
        answers.append(answer.status_code)

    each()
    return answers
