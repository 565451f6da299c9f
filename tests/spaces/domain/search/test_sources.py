"""One source may say as much as it likes: it has half of the top, if others have something to say."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.actor import Actor
from spaces.domain.search.ranking import search
from spaces.domain.search.sources import COMPARABLE, TOP, spread
from spaces.models import Memory
from tests.conftest import Cast
from tests.spaces.domain.search.engine import give_vectors, make_model, meaning_of
from tests.spaces.domain.search.memories import store


@dataclass(frozen=True)
class One:
    name: int
    source: str
    score: float


@st.composite
def orders(draw: st.DrawFn) -> list[One]:
    found = draw(st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), st.floats(0.01, 1)), max_size=30))
    ranked = sorted(found, key=lambda pair: -pair[1])
    return [One(name, source, score) for name, (source, score) in enumerate(ranked)]


@given(orders(), st.integers(1, 40))
def test_a_source_has_more_than_half_of_the_top_only_where_nobody_has_anything_comparable(
    ordered: list[One], limit: int
) -> None:
    found = spread(ordered, limit)
    top = min(limit, TOP)
    assert len(found) == min(limit, len(ordered))
    assert len(set(found)) == len(found)
    for place, one in enumerate(found[:top]):
        own = sum(before.source == one.source for before in found[:place])
        if one.source and own >= ceil(top / 2):
            later = [other for other in ordered if other not in found[:place] and other.source != one.source]
            taken = {s: sum(b.source == s for b in found[:place]) for s in "abc"}
            free = [o for o in later if not o.source or taken[o.source] < ceil(top / 2)]
            assert all(other.score < COMPARABLE * one.score for other in free)
    assert found[top:] == [one for one in ordered if one not in found[:top]][: max(0, limit - top)]


@given(orders(), st.integers(1, 40))
def test_what_one_source_alone_has_stays_in_its_order(ordered: list[One], limit: int) -> None:
    alone = [replace(one, source="a") for one in ordered]
    assert spread(alone, limit) == alone[:limit]


def keyed(cast: Cast, name: str) -> Actor:
    """A stranger to `cast.agent`, as far as its writing goes."""
    return replace(cast.agent, kind=name)


@pytest.mark.django_db
@pytest.mark.usefixtures("inside")
class TestFloods:
    flood = "Deploy window: deploy on Fridays, deploy window, the deploy window says variant"

    def texts(self, cast: Cast, limit: int = 10, **given: Any) -> list[str]:
        found = search(cast.agent, "when is the deploy window", limit=limit, **given)
        by_id = Memory.objects.in_bulk(found.ids)
        return [by_id[id].text for id in found.ids]

    def test_a_crowd_of_copies_leaves_half_of_the_top_to_others(self, cast: Cast) -> None:
        store(keyed(cast, "flood"), cast.space, *(f"{self.flood} {n}" for n in range(20)))
        truths = [f"The deploy window is Tuesday {n}:00" for n in range(6)]
        store(cast.agent, cast.space, *truths)
        found = self.texts(cast)
        assert sum(text in truths for text in found) == 5
        assert found[0].startswith(self.flood)

    def test_a_crowd_that_fills_all_that_is_looked_at_hides_nobody(self, cast: Cast) -> None:
        model = make_model()
        crowd = store(keyed(cast, "flood"), cast.space, *(f"{self.flood} {n}" for n in range(150)))
        truth = store(cast.agent, cast.space, "The deploy window is Tuesday 14:00 UTC")
        give_vectors(model, [*crowd, *truth])
        meaning = meaning_of(model, "when is the deploy window")
        assert truth[0].text in self.texts(cast, meaning=meaning)
        assert truth[0].text in self.texts(cast)
        assert truth[0].text in self.texts(cast, limit=2)

    def test_what_people_wrote_or_released_makes_way_for_nobody(self, cast: Cast) -> None:
        store(cast.agent, cast.space, *(f"{self.flood} {n}" for n in range(10)), trust="reviewed")
        store(keyed(cast, "other"), cast.space, *(f"The deploy window is Tuesday {n}:00" for n in range(6)))
        assert all(text.startswith(self.flood) for text in self.texts(cast))

    def test_what_has_little_to_do_with_the_question_does_not_come_forward(self, cast: Cast) -> None:
        store(keyed(cast, "team"), cast.space, *(f"{self.flood} {n}" for n in range(10)))
        store(cast.agent, cast.space, *(f"A window of the office, number {n}, is open" for n in range(6)))
        assert all(text.startswith(self.flood) for text in self.texts(cast))
