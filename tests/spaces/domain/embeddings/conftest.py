"""A hub with a server that embeds, and the ways to write, wait and look."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

import spaces.tasks  # noqa: F401 (what jobs of the main lane run)
from spaces.domain.embeddings import queries
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from spaces.models import EmbeddingModel
from tests.conftest import Cast
from tests.embeddings import FakeServer, serving
from tests.spaces.domain.embeddings.writing import embed_all


@pytest.fixture
def fake(settings: Settings) -> Iterator[FakeServer]:
    """Configured, and not yet adopted."""
    with serving() as server:
        configure(settings, server)
        yield server
    forget()


@pytest.fixture
def model(cast: Cast, fake: FakeServer) -> EmbeddingModel:
    """The configured model, adopted and in service; no memory was there before."""
    adopt_configured()
    embed_all()
    assert finish_change()
    return EmbeddingModel.objects.get()


def configure(settings: Settings, server: FakeServer) -> None:
    settings.EMBEDDING_URL = server.url
    settings.EMBEDDING_MODEL = server.model
    settings.EMBEDDING_API_KEY = server.api_key
    forget()


def forget() -> None:
    """What processes keep in memory."""
    cache.clear()
    queries.forget()
