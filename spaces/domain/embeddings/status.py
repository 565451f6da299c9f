"""Whether searches are by meaning, for readiness checks and pages."""

from dataclasses import dataclass
from typing import Literal

from django.core.cache import cache

from spaces.domain.embeddings.configured import configured
from spaces.embedding.base import Trouble
from spaces.models import EmbeddingModel

NOT_ADOPTED = "embedding.not_adopted"
"""Key of the cache: why there is no model yet, as (trouble, note)."""
OFF = ""
PREPARING = "The model is being made ready."


@dataclass(frozen=True)
class Status:
    """`off`: as configured. `preparing`: wait a moment. `degraded`: by words until further notice; `note` says why."""

    state: Literal["ready", "off", "preparing", "degraded"]
    note: str = ""
    model: str = ""


def embedding_status() -> Status:
    if configured() is None:
        return Status("off")
    model = EmbeddingModel.objects.serving()
    if model is None:
        trouble, note = cache.get(NOT_ADOPTED, (Trouble.PREPARING, PREPARING))
        return _troubled(trouble, note)
    if model.trouble:
        return _troubled(model.trouble, model.trouble_note, model.name)
    return Status("ready", model=model.name)


def _troubled(trouble: str, note: str, model: str = "") -> Status:
    return Status("preparing" if trouble == Trouble.PREPARING else "degraded", note, model)
