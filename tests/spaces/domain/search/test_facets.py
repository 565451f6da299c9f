import pytest

from memoryhub.common.tenancy import tenant
from spaces.domain.memories import Wanted, memory_facets, remember
from spaces.domain.search.facets import Choice
from tests.conftest import Cast


@pytest.fixture(autouse=True)
def memories(cast: Cast, inside: None) -> None:
    remember(cast.agent, text="one", kind="note", tags=["a", "b"], subject="Ann")
    remember(cast.agent, text="two", tags=["a"], subject="Ann", tier="core")
    remember(cast.agent, text="three", origin="user")


def test_each_choice_is_told_with_how_many_it_leaves_the_most_first(cast: Cast) -> None:
    facets = memory_facets(cast.agent)
    assert facets.kinds == [Choice("fact", 2), Choice("note", 1)]
    assert facets.tiers == [Choice("long", 2), Choice("core", 1)]
    assert facets.origins == [Choice("agent", 2), Choice("user", 1)]
    assert facets.tags == [Choice("a", 2), Choice("b", 1)]
    assert facets.subjects == [Choice("Ann", 2)]


def test_facets_count_within_what_is_chosen_already(cast: Cast) -> None:
    facets = memory_facets(cast.agent, Wanted(tag="b"))
    assert facets.kinds == [Choice("note", 1)]
    assert facets.tags == [Choice("a", 1), Choice("b", 1)]


def test_an_outsider_counts_nothing_of_it(cast: Cast) -> None:
    with tenant(cast.outsider.account_id):
        assert memory_facets(cast.outsider).kinds == []
