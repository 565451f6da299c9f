"""Calls of the family's tools, by an agent whose hub finds by meaning too."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

import memoryhub.operations.catalogue  # noqa: F401
import spaces.tasks  # noqa: F401
from accounts.actor import Actor
from memoryhub.operations.base import REGISTRY
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from tests.conftest import Cast
from tests.embeddings import FakeServer, serving
from tests.language_model import FakeModel, serving_model
from tests.spaces.domain.embeddings.conftest import configure, forget
from tests.spaces.domain.embeddings.writing import embed_all

Ask = Callable[..., dict[str, Any]]


def ask(actor: Actor, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The answer, which has to be what its schema says."""
    operation = REGISTRY.get(name, "zerodb")
    assert operation is not None, name
    answer = operation(actor, arguments)
    jsonschema.validate(answer, operation.output_schema)
    return answer


def in_session(actor: Actor, session: str) -> Actor:
    return replace(actor, attribution=replace(actor.attribution, session=session))


@pytest.fixture
def tool(cast: Cast) -> Ask:
    return lambda name, **arguments: ask(cast.agent, f"zerodb_{name}", **arguments)


@pytest.fixture
def meaning(cast: Cast, settings: Settings) -> Iterator[FakeServer]:
    """A server that embeds, its model in service."""
    with serving() as server:
        configure(settings, server)
        adopt_configured()
        embed_all()
        assert finish_change()
        yield server
    forget()


@pytest.fixture
def model(settings: Settings) -> Iterator[FakeModel]:
    with serving_model() as fake:
        settings.LLM_URL, settings.LLM_MODEL = fake.url, fake.model
        yield fake
