"""How good a ranking is, and the simpler rankings that the parts of ours amount to."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from statistics import fmean
from typing import Any

Explained = Mapping[str, Any]
Stage = Callable[[Sequence[Explained]], list[str]]

DEPTHS = (5, 10, 20)
FLAT = 60


@dataclass
class Quality:
    """Over many questions, in per cent. `recall` is the share of the evidence among the first so many."""

    recalls: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})
    hits: list[float] = field(default_factory=list)
    reciprocals: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    def add(self, ranked: Sequence[str], evidence: Collection[str]) -> None:
        for depth, values in self.recalls.items():
            values.append(len({*ranked[:depth]} & {*evidence}) / len(evidence))
        places = [place for place, name in enumerate(ranked, 1) if name in evidence]
        self.hits.append(float(bool(places) and places[0] <= 10))
        self.reciprocals.append(1 / places[0] if places and places[0] <= 10 else 0.0)
        best = sum(1 / log2(place + 1) for place in range(1, min(len(evidence), 10) + 1))
        self.gains.append(sum(1 / log2(place + 1) for place in places if place <= 10) / best)

    def cells(self) -> list[str]:
        means = [*map(fmean, self.recalls.values()), *map(fmean, (self.hits, self.reciprocals, self.gains))]
        return [f"{100 * mean:.1f}" for mean in means]


HEADINGS = ["R@5", "R@10", "R@20", "hit@10", "MRR@10", "nDCG@10"]


def by(*parts: str) -> Stage:
    """Ranked by the sum of these parts of each explanation."""
    return lambda found: _names(found, lambda one: sum(one[part] or 0.0 for part in parts))


def by_ranks(found: Sequence[Explained]) -> list[str]:
    """Reciprocal rank fusion of both legs, as many do it."""
    places: dict[str, float] = {}
    for stage in (by("bm25"), by("cosine")):
        for place, name in enumerate(stage(found), 1):
            places[name] = places.get(name, 0.0) + 1 / (FLAT + place)
    return sorted(places, key=places.__getitem__, reverse=True)


STAGES: dict[str, Stage] = {
    "words alone (BM25)": by("bm25"),
    "meaning alone": by("cosine"),
    "reciprocal ranks (60)": by_ranks,
    "words and meaning": by("words", "meaning"),
    "+ priors": by("words", "meaning", "named", "time", "length", "bare_question"),
    "+ neighbours": by("score"),
}


def _names(found: Iterable[Explained], score: Callable[[Explained], float]) -> list[str]:
    return [one["id"] for one in sorted(found, key=score, reverse=True)]
