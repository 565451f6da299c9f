"""The configured model thinks: read what it is to think about, let go of everything, ask, then settle.

Each step is short but the asking, and nothing is held meanwhile: no transaction, no connection, no lock.
"""

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from accounts.actor import system_actor
from accounts.domain.jobs import claim, finish, postpone
from accounts.models import Job
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.llm import Answer, LanguageModel, ModelError, Trouble, language_model
from memoryhub.common.tenancy import tenant
from spaces.domain.dreams import runs
from spaces.domain.dreams.briefs import brief
from spaces.domain.dreams.clustering import cluster_space
from spaces.domain.dreams.lane import CLUSTER, DREAMING
from spaces.domain.dreams.runs import TRIES, lock_dreams, move_as_system
from spaces.domain.dreams.settling import settle
from spaces.domain.dreams.shape import read_result
from spaces.models import DreamRun

log = logging.getLogger(__name__)

LONGEST_ANSWER = 8_000
RETRIES = (timedelta(minutes=1), timedelta(minutes=10))
THINKING = ("queued", "thinking", "validating")
NO_MODEL = "No language model is configured. Set LLM_URL, or let an agent think."
UNWANTED = "The hub's model was switched off for this space meanwhile."


@dataclass(frozen=True)
class Thought:
    """What the model answered, and how long that took."""

    answer: Answer
    value: Any
    model: str
    milliseconds: int


def work_off() -> int:
    """Deal with what waits, one after the other. Answers how many jobs that were."""
    done = 0
    while jobs := claim(DREAMING, 1):
        for job in jobs:
            _run(job)
        done += len(jobs)
    return done


def _run(job: Job) -> None:
    try:
        if job.kind == CLUSTER and job.object_id:
            cluster_space(job.account_id, job.object_id)
            finish([job])
        else:
            _dream(job)
    except Exception as error:
        log.exception("job %s of kind %s failed", job.id, job.kind)
        postpone([job], type(error).__name__, RETRIES[-1])


def _dream(job: Job) -> None:
    task, model = _begin_thinking(job), language_model()
    if task is None:
        return finish([job])
    try:
        if model is None:
            raise ModelError(Trouble.REFUSED, NO_MODEL)
        thought = _think(model, task)
    except ModelError as error:
        return _give_up(job, error)
    with tenant(job.account_id):
        if run := _awaited(job):
            move_as_system(run, "validating")
    return _settle(job, thought)


def _begin_thinking(job: Job) -> dict[str, Any] | None:
    """What to think about; nothing if that has come to an end meanwhile."""
    with tenant(job.account_id):
        run = _awaited(job)
        if run is None:
            return None
        if run.space.dream_mode != "server":
            runs.finish(system_actor(run.account_id), run, "rejected", trouble=UNWANTED)
            return None
        if run.status != "thinking":
            move_as_system(run, "thinking")
        return brief(run)


def _awaited(job: Job) -> DreamRun | None:
    """The run, with the lock of its space, as long as it waits for the model."""
    named = DreamRun.objects.filter(account_id=job.account_id, id__in=[job.object_id]).select_related("space")
    if run := named.first():
        lock_dreams(run.space)
    return named.filter(status__in=THINKING, thinker="server").first()


def _think(model: LanguageModel, task: dict[str, Any]) -> Thought:
    began = time.monotonic()
    answer, value = model.answer_json(
        task["instructions"], _as_data(task["input"]), longest=LONGEST_ANSWER, schema=task["output_schema"]
    )
    return Thought(answer, value, model.name, int((time.monotonic() - began) * 1000))


def _as_data(input: dict[str, Any]) -> str:
    return canonical_json(input).decode()


def _settle(job: Job, thought: Thought) -> None:
    with tenant(job.account_id):
        run = _awaited(job)
        if run is None:
            return finish([job])
        run.model, run.think_ms = thought.model[:200], (run.think_ms or 0) + thought.milliseconds
        run.tokens_in = _sum(run.tokens_in, thought.answer.tokens_in)
        run.tokens_out = _sum(run.tokens_out, thought.answer.tokens_out)
        run.save(update_fields=["model", "think_ms", "tokens_in", "tokens_out"])
        try:
            changes, notes = read_result(thought.value)
        except ValidationFailed:
            return _again(job, run, "rejected", "The model's answer had another form, three times.")
        settle(system_actor(run.account_id), run, changes, notes)
        return finish([job])


def _give_up(job: Job, error: ModelError) -> None:
    """What only a person can put right isn't tried again; the next dream will find out."""
    with tenant(job.account_id):
        run = _awaited(job)
        if run is None:
            return finish([job])
        if error.trouble is Trouble.REFUSED:
            runs.finish(system_actor(run.account_id), run, "failed", trouble=error.message)
            return finish([job])
        ending = "rejected" if error.trouble is Trouble.ANSWER else "failed"
        return _again(job, run, ending, error.message)


def _again(job: Job, run: DreamRun, ending: str, why: str) -> None:
    run.tries += 1
    run.save(update_fields=["tries"])
    if run.tries >= TRIES:
        runs.finish(system_actor(run.account_id), run, ending, trouble=why)
        return finish([job])
    if run.status != "thinking":
        move_as_system(run, "thinking")
    return postpone([job], why[:200], RETRIES[min(run.tries, len(RETRIES)) - 1])


def _sum(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more
