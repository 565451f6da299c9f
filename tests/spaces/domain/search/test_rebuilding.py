from io import StringIO

import pytest
from django.core.management import call_command

from memoryhub.common.tenancy import tenant
from spaces.domain.search import rebuilding
from spaces.domain.search.indexing import SEARCH_VERSION
from spaces.domain.search.rebuilding import rebuild_search_fields
from spaces.models import Memory
from tests.conftest import Cast
from tests.spaces.domain.search.by_words import search_words
from tests.spaces.domain.search.memories import store


def forget_how_to_find(cast: Cast, count: int) -> None:
    with tenant(cast.account.id):
        store(cast.agent, cast.space, *(f"deploy {n}" for n in range(count)))
        store(cast.agent, None, "deploy all")
        Memory.objects.update(search_vector=None, search_weights=None, search_version=0)


def found(cast: Cast) -> int:
    with tenant(cast.account.id):
        return len(search_words(cast.agent, "deploy", limit=100).matches)


def test_memories_of_an_older_version_are_found_again(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "BATCH", 3)
    forget_how_to_find(cast, 7)
    assert found(cast) == 0
    assert rebuild_search_fields(cast.account.id) == 8
    assert found(cast) == 8
    assert rebuild_search_fields(cast.account.id) == 0


def test_everything_is_made_anew_when_asked(cast: Cast) -> None:
    with tenant(cast.account.id):
        store(cast.agent, cast.space, "deploy")
        Memory.objects.update(search_vector=None, search_version=SEARCH_VERSION)
    assert rebuild_search_fields(cast.account.id) == 0
    assert rebuild_search_fields(cast.account.id, everything=True) == 1
    assert found(cast) == 1


def test_a_memory_without_its_fields_harms_no_search(cast: Cast) -> None:
    forget_how_to_find(cast, 1)
    with tenant(cast.account.id):
        store(cast.agent, cast.space, "deploy now")
    assert found(cast) == 1


def test_one_command_rebuilds_every_account(cast: Cast) -> None:
    forget_how_to_find(cast, 2)
    with tenant(cast.outsider.account_id):
        store(cast.outsider, cast.outsider_space, "deploy")
        Memory.objects.update(search_version=0)
    answer = StringIO()
    call_command("rebuild_search", stdout=answer)
    assert answer.getvalue() == "4 memories rebuilt\n"
    assert found(cast) == 3


@pytest.mark.usefixtures("inside")
def test_a_list_of_memories_leaves_the_search_fields_in_the_database(cast: Cast) -> None:
    store(cast.agent, cast.space, "deploy")
    assert Memory.objects.get().get_deferred_fields() == {"search_vector", "search_weights"}
