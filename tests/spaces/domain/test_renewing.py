from datetime import UTC, datetime

import pytest

import accounts.tasks  # noqa: F401
import spaces.tasks  # noqa: F401 (what jobs of the main lane run)
from accounts.domain.jobs import run_due_jobs
from memoryhub.common.tenancy import tenant
from spaces.domain import renewing
from spaces.domain.search.indexing import SEARCH_VERSION
from spaces.domain.spaces import Settings, update_space
from spaces.models import Memory
from tests.conftest import Cast
from tests.spaces.domain.search.by_words import search_words
from tests.spaces.domain.search.memories import store

pytestmark = pytest.mark.django_db

LATE = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)


def run_jobs() -> None:
    """A job for each piece, each of which is woken by the one before."""
    while run_due_jobs():
        pass


def found(cast: Cast, query: str) -> list[str]:
    with tenant(cast.account.id):
        ids = [match.id for match in search_words(cast.agent, query).matches]
        return sorted(Memory.objects.filter(id__in=ids).values_list("text", flat=True))


@pytest.fixture
def knowing(cast: Cast) -> Cast:
    """Said a minute before midnight in London, which is the next day in Tokyo."""
    with tenant(cast.account.id):
        store(cast.agent, cast.space, "Cranes are serviced", "Gates close", occurred_at=LATE)
        store(cast.agent, None, "Of the account", occurred_at=LATE)
    return cast


def test_a_renamed_space_is_found_by_its_new_name_and_no_more_by_the_old(
    knowing: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewing, "BATCH", 1)
    assert found(knowing, "main") == ["Cranes are serviced", "Gates close"]
    with tenant(knowing.account.id):
        update_space(knowing.owner, Settings(name="Harbour"), space=knowing.space.id)
    assert found(knowing, "main") == ["Cranes are serviced", "Gates close"]
    run_jobs()
    assert found(knowing, "harbour") == ["Cranes are serviced", "Gates close"]
    assert found(knowing, "main") == []
    with tenant(knowing.account.id):
        assert set(Memory.objects.values_list("search_version", flat=True)) == {SEARCH_VERSION}


def test_another_time_zone_is_another_day_to_find_by(knowing: Cast) -> None:
    assert found(knowing, "tuesday") == []
    with tenant(knowing.account.id):
        update_space(knowing.owner, Settings(time_zone="Asia/Tokyo"), space=knowing.space.id)
    run_jobs()
    assert found(knowing, "tuesday") == ["Cranes are serviced", "Gates close"]
    assert found(knowing, "monday") == ["Of the account"]


def test_an_edit_in_between_is_left_as_it_is(knowing: Cast) -> None:
    with tenant(knowing.account.id):
        renewing.renew_space(knowing.account.id, knowing.space.id)
        Memory.objects.filter(text="Gates close").update(
            search_version=SEARCH_VERSION, search_vector="'edited'"
        )
        renewing.index_some(knowing.account.id, knowing.space.id)
        vectors = dict(Memory.objects.values_list("text", "search_vector"))
    assert vectors["Gates close"] == "'edited'"
    assert "crane" in vectors["Cranes are serviced"]
