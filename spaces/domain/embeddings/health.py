"""Whether a model can be used now. One in trouble is left alone until it is time to look again."""

import logging
from datetime import timedelta

from django.utils import timezone

from spaces.domain.embeddings.configured import client_of
from spaces.embedding.base import EmbeddingError, Trouble
from spaces.embedding.canaries import check_canaries
from spaces.models import EmbeddingModel

log = logging.getLogger(__name__)

HEALTHY_CHECK = timedelta(hours=1)
# Seconds until the next look, by how often it was in vain.
PAUSES: dict[Trouble, tuple[int, ...]] = {
    Trouble.PREPARING: (1,),
    Trouble.UNAVAILABLE: (1, 2, 4, 8, 15),
    Trouble.ANSWER: (5, 15, 60),
    Trouble.REFUSED: (60, 120, 300),
    Trouble.DRIFT: (60, 300),
}
BEING_CHECKED = timedelta(seconds=60)


def report_trouble(model: EmbeddingModel, error: EmbeddingError) -> None:
    """Nobody asks the model for a while; searches are by words. Of several who report at once, one counts."""
    now = timezone.now()
    changed = EmbeddingModel.objects.filter(id=model.id, failed_checks=model.failed_checks).update(
        trouble=error.trouble,
        trouble_note=error.message[:300],
        trouble_since=model.trouble_since or now,
        failed_checks=model.failed_checks + 1,
        check_at=now + pause(error, model.failed_checks),
    )
    if changed and not model.trouble:
        log.error("Search is by words alone; %s: %s", model, error.message)
    model.trouble = error.trouble


def pause(error: EmbeddingError, failures: int) -> timedelta:
    """At least as long as the server asked for."""
    pauses = PAUSES[error.trouble]
    usual = pauses[min(failures, len(pauses) - 1)]
    return timedelta(seconds=max(usual, error.retry_after or 0))


def check_models() -> None:
    """Look after the models that are due: hourly, and sooner where there was trouble."""
    for model in EmbeddingModel.objects.wanted().filter(check_at__lte=timezone.now()):
        if _taken(model):
            check_model(model)


def _taken(model: EmbeddingModel) -> bool:
    """By this process and no other."""
    taken = EmbeddingModel.objects.filter(id=model.id, check_at=model.check_at)
    return bool(taken.update(check_at=timezone.now() + BEING_CHECKED))


def check_model(model: EmbeddingModel) -> None:
    try:
        check_canaries(client_of(model), model.canary_vectors)
    except EmbeddingError as error:
        report_trouble(model, error)
    else:
        _report_health(model)


def is_well(model: EmbeddingModel) -> bool:
    """Asked now: does it answer as it always did?"""
    try:
        check_canaries(client_of(model), model.canary_vectors)
    except EmbeddingError:
        return False
    return True


def _report_health(model: EmbeddingModel) -> None:
    if model.trouble:
        log.warning("%s answers again; search is by meaning too", model)
    EmbeddingModel.objects.filter(id=model.id).update(
        trouble="",
        trouble_note="",
        trouble_since=None,
        failed_checks=0,
        check_at=timezone.now() + HEALTHY_CHECK,
    )
