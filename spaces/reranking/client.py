"""Speaks to a server that ranks texts by a question: in TEI's form, or in Cohere's, which names a model.

TEI: `{query, texts}` is answered by `[{index, score}]`. Cohere, Jina, vLLM: `{model, query, documents}` is answered by
`{results: [{index, relevance_score}]}`.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.client import Patience, post

PATIENCE = Patience(0.5, 3.0)
"""Somebody waits for the search."""
SERVER = "reranking server"


@dataclass(frozen=True)
class Reranker:
    """`url` is that of the interface, such as http://localhost:8080/rerank or https://api.cohere.com/v2/rerank."""

    url: str
    model: str = ""
    api_key: str = field(default="", repr=False)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One for each text, in their order; the higher, the better it answers. Raises EmbeddingError."""
        content = post(self.url, self._body(query, texts), self.api_key, PATIENCE, SERVER)
        return _in_order(_items(content), len(texts))

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self.model:
            return {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}
        return {"query": query, "texts": list(texts), "truncate": True}


def _items(content: bytes) -> list[tuple[int, float]]:
    try:
        answer = json.loads(content)
        items = answer["results"] if isinstance(answer, dict) else answer
        return [(int(item["index"]), float(item.get("relevance_score", item.get("score")))) for item in items]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EmbeddingError(Trouble.ANSWER, f"The {SERVER}'s answer has another form.") from None


def _in_order(items: list[tuple[int, float]], count: int) -> list[float]:
    if sorted(index for index, _ in items) != list(range(count)):
        raise EmbeddingError(Trouble.ANSWER, f"The {SERVER} answered {len(items)} scores for {count} texts.")
    if not all(math.isfinite(score) for _, score in items):
        raise EmbeddingError(Trouble.ANSWER, f"The {SERVER} answered something else than numbers.")
    return [score for _, score in sorted(items)]
