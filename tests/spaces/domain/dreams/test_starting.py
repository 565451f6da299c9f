"""A dream that a person asks for."""

import pytest

from accounts.models import Job
from memoryhub.common.errors import Forbidden, ValidationFailed
from spaces.domain.dreams.lane import CLUSTER, THINK
from spaces.domain.dreams.starting import start_dream
from spaces.domain.spaces import Settings, update_space
from spaces.models import DreamRun
from tests.calls import call
from tests.spaces.domain.dreams.stage import Dreamer

pytestmark = pytest.mark.usefixtures("inside")


def test_it_begins_before_the_interval_is_over_and_however_little_has_changed(dreamer: Dreamer) -> None:
    dreamer.fills()
    dreamer.dreams()
    assert call(dreamer.actor, "dream_next_job")["job"] is None
    run = start_dream(dreamer.cast.teammate)
    assert run is not None
    assert (run.status, run.started_by) == ("awaiting_result", dreamer.cast.teammate.key)
    assert dreamer.job()["run_id"] == f"run_{run.id.hex}"


def test_a_second_start_answers_the_open_one(dreamer: Dreamer) -> None:
    dreamer.fills()
    runs = [start_dream(dreamer.cast.owner) for _ in range(2)]
    assert DreamRun.objects.get() == runs[0] == runs[1]


def test_nothing_to_look_at_starts_nothing(dreamer: Dreamer) -> None:
    with pytest.raises(ValidationFailed, match="Nothing is remembered"):
        start_dream(dreamer.cast.owner)
    assert not DreamRun.objects.exists()


def test_where_the_hub_thinks_its_model_is_asked_and_without_one_that_is_said(
    dreamer: Dreamer, settings: pytest.MonkeyPatch
) -> None:
    dreamer.fills()
    update_space(dreamer.cast.owner, Settings(dream_mode="server"))
    settings.LLM_URL = ""
    with pytest.raises(ValidationFailed, match="No language model"):
        start_dream(dreamer.cast.owner)
    settings.LLM_URL = "http://127.0.0.1:9/v1"
    run = start_dream(dreamer.cast.owner)
    assert run is not None
    assert Job.objects.get(kind=THINK).object_id == run.id


def test_where_dreams_are_off_near_identical_memories_are_looked_for(dreamer: Dreamer) -> None:
    update_space(dreamer.cast.owner, Settings(dream_mode="off"))
    assert start_dream(dreamer.cast.owner) is None
    assert Job.objects.get(kind=CLUSTER).object_id == dreamer.cast.space.id


def test_a_viewer_starts_none(dreamer: Dreamer) -> None:
    with pytest.raises(Forbidden):
        start_dream(dreamer.cast.viewer)
