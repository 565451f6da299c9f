"""What a model is, as far as its vectors depend on it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from spaces.embedding.base import Kind


@dataclass(frozen=True)
class ModelSpec:
    """`dimensions` 0: as many as the provider answers. `weights` and `centring` are digests, empty where unknown."""

    name: str
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = ""
    centring: str = ""
    weights: str = ""

    def prefix(self, kind: Kind) -> str:
        return self.query_prefix if kind == "query" else self.passage_prefix


def fingerprint(spec: ModelSpec, **versions: int | str) -> str:
    """SHA-256 over all that a stored vector depends on: the model, and the versions of how texts are made ready."""
    told: dict[str, Any] = {**asdict(spec), **versions}
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


FASTEMBED = "fastembed:"
"""Before the name of a model that the embedder loads with the library of this name."""


class Prefixes(NamedTuple):
    query: str = ""
    passage: str = ""


_E5 = Prefixes("query: ", "passage: ")
_SEARCH = Prefixes("Represent this sentence for searching relevant passages: ")

# What models were trained to see before a text, by a part of their name; the first that fits.
FAMILIES = {
    "e5-mistral": Prefixes("Instruct: Find what answers the question.\nQuery: "),
    "multilingual-e5-large-instruct": Prefixes("Instruct: Find what answers the question.\nQuery: "),
    "e5-": _E5,
    "bge-m3": Prefixes(),
    "bge-small-en": _SEARCH,
    "bge-base-en": _SEARCH,
    "bge-large-en": _SEARCH,
    "mxbai-embed": _SEARCH,
    "nomic-embed": Prefixes("search_query: ", "search_document: "),
    "arctic-embed-l-v2": Prefixes("query: "),
    "arctic-embed-m-v2": Prefixes("query: "),
    "arctic-embed2": Prefixes("query: "),
    "arctic-embed": _SEARCH,
}


def known_prefixes(name: str) -> Prefixes:
    plain = name.lower()
    return next((prefixes for part, prefixes in FAMILIES.items() if part in plain), Prefixes())
