"""From the settings to the model in use. Another model than the one that serves is built up beside it first."""

import logging

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.domain.jobs import enqueue_everywhere
from memoryhub.common.locks import lock
from spaces.domain.embeddings.configured import Configured, configured
from spaces.domain.embeddings.health import HEALTHY_CHECK
from spaces.domain.embeddings.lane import COVER, DISCARD, EMBEDDING
from spaces.domain.search.passage import TEMPLATE_VERSION
from spaces.embedding.canaries import canary_vectors, scale_of
from spaces.embedding.chunks import CHUNKS_VERSION
from spaces.embedding.client import PATIENT
from spaces.models import EmbeddingModel
from spaces.models.embeddings import EmbeddingModelQuerySet

log = logging.getLogger(__name__)


def adopt_configured(*, anew: bool = False) -> EmbeddingModel | None:
    """Make the configured model the one that memories get vectors of. Raises EmbeddingError when it does not answer.

    Where it is the one already, nothing changes, unless it is to be done `anew`.
    """
    wanted = configured()
    if wanted is None:
        return None
    known = _known(wanted)
    if known and not anew:
        return _keep(known, wanted)
    return _introduce(_probed(wanted), wanted, anew)


def _known(wanted: Configured) -> EmbeddingModel | None:
    """The active one first: going back to it gives up what was being built."""
    same = EmbeddingModel.objects.wanted().filter(fingerprint=wanted.fingerprint)
    return same.order_by("state", "-revision").first()


def _keep(known: EmbeddingModel, wanted: Configured) -> EmbeddingModel:
    with transaction.atomic():
        if known.url != wanted.url:
            known.url = wanted.url
            known.save(update_fields=["url"])
        if known.state == "active":
            retire(EmbeddingModel.objects.filter(state="building"))
    return known


def _probed(wanted: Configured) -> EmbeddingModel:
    client = wanted.client(PATIENT)
    canaries = canary_vectors(client)
    scale = scale_of(wanted.spec, client)
    spec = wanted.spec
    return EmbeddingModel(
        name=spec.name,
        url=wanted.url,
        dimensions=len(canaries[0]),
        query_prefix=spec.query_prefix,
        passage_prefix=spec.passage_prefix,
        pooling=spec.pooling,
        centring=spec.centring,
        weights=spec.weights,
        ask_dimensions=wanted.ask_dimensions,
        template_version=TEMPLATE_VERSION,
        chunks_version=CHUNKS_VERSION,
        fingerprint=wanted.fingerprint,
        canaries=np.concatenate(canaries).astype("<f4").tobytes(),
        cosine_unrelated=scale.unrelated,
        cosine_relevant=scale.relevant,
        check_at=timezone.now() + HEALTHY_CHECK,
    )


@transaction.atomic
def _introduce(model: EmbeddingModel, wanted: Configured, anew: bool) -> EmbeddingModel:
    lock_models()
    if not anew and (known := _known(wanted)):  # another process was quicker
        return known
    earlier = EmbeddingModel.objects.filter(fingerprint=model.fingerprint).aggregate(last=Max("revision"))
    model.revision = (earlier["last"] or 0) + 1
    retire(EmbeddingModel.objects.filter(state="building"))
    model.save(force_insert=True)
    enqueue_everywhere(COVER, lane=EMBEDDING)
    log.info("Memories get vectors of %s (%d numbers)", model, model.dimensions)
    return model


def retire(models: EmbeddingModelQuerySet) -> bool:
    """Their vectors go, account by account. Whether there were any."""
    retired = models.update(state="retired", retired_at=timezone.now(), trouble="", trouble_note="")
    if retired:
        enqueue_everywhere(DISCARD)
    return bool(retired)


def lock_models() -> None:
    lock("embedding models")
