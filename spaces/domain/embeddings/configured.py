"""The model that the settings ask for, and how to reach any model."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings

from spaces.domain.search.passage import TEMPLATE_VERSION
from spaces.embedding.chunks import CHUNKS_VERSION
from spaces.embedding.client import Client, Patience
from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.spec import FASTEMBED, ModelSpec, fingerprint, known_prefixes
from spaces.models import EmbeddingModel

NO_PREFIX = "none"


@dataclass(frozen=True)
class Configured:
    url: str
    spec: ModelSpec
    ask_dimensions: int = 0
    api_key: str = field(default="", repr=False)

    @property
    def fingerprint(self) -> str:
        """Where the model is reached is no part of it."""
        return fingerprint(
            self.spec, asked=self.ask_dimensions, template=TEMPLATE_VERSION, chunks=CHUNKS_VERSION
        )

    def client(self, patience: Patience | None = None) -> Client:
        return Client(self.url, self.spec, self.api_key, self.ask_dimensions, patience)


def configured() -> Configured | None:
    """None: the hub has no server that embeds."""
    if not settings.EMBEDDING_URL:
        return None
    return Configured(
        settings.EMBEDDING_URL, _spec(), settings.EMBEDDING_DIMENSIONS, settings.EMBEDDING_API_KEY
    )


def _spec() -> ModelSpec:
    name: str = settings.EMBEDDING_MODEL.removeprefix(FASTEMBED)
    if name == DEFAULT_MODEL.name:
        return DEFAULT_MODEL
    known = known_prefixes(name)
    return ModelSpec(
        name=name,
        query_prefix=_prefix(settings.EMBEDDING_QUERY_PREFIX, known.query),
        passage_prefix=_prefix(settings.EMBEDDING_PASSAGE_PREFIX, known.passage),
    )


def _prefix(given: str, known: str) -> str:
    return "" if given == NO_PREFIX else given or known


def client_of(model: EmbeddingModel, patience: Patience | None = None) -> Client:
    return Client(model.url, model.spec, _api_key(model.url), model.ask_dimensions, patience)


def _api_key(url: str) -> str:
    """A credential goes to the server that it is for."""
    same = urlsplit(url)[:2] == urlsplit(settings.EMBEDDING_URL)[:2]
    return str(settings.EMBEDDING_API_KEY if same else settings.EMBEDDING_PREVIOUS_API_KEY)
