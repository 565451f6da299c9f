"""What else, besides its words and its meaning, speaks for a memory: little, so that it only settles near ties.

All of it is on the scale of the score, 0 to 1.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import log

from spaces.domain.search.normalise import UNSPACED, fold
from spaces.domain.search.timewords import asks_for_time, tells_time

NAMED = 0.07
TIME = 0.042
LENGTH = 0.021
BARE_QUESTION = -0.035

USUAL_TURN = 120
"""Characters of what is said in a session; one of a script without spaces counts as two."""
SPREAD = 0.8
MOST_SPREADS = 2.0
SHORT_QUESTION = 80

_UNSPACED = re.compile(f"[{UNSPACED}]")
_FIRST_NAME = re.compile(r"[^\W\d_]{2,}")
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True)
class Priors:
    """`named`: the question names its author or subject. `time`: it tells when, and that was asked."""

    named: float = 0.0
    time: float = 0.0
    length: float = 0.0
    bare_question: float = 0.0

    @property
    def sum(self) -> float:
        return self.named + self.time + self.length + self.bare_question


class Question:
    """A question as it is read once for all candidates."""

    def __init__(self, text: str) -> None:
        self._folded = fold(text)
        self._about_time = asks_for_time(text)

    def priors(self, text: str, length: int, actors: Iterable[str], *, in_session: bool) -> Priors:
        """`text` may be only the beginning of what has that `length`.

        A short turn of a session often says little; a statement that stands by itself is as long as it has to be.
        """
        return Priors(
            named=NAMED if any(self.names(actor) for actor in actors) else 0.0,
            time=TIME if self._about_time and tells_time(text) else 0.0,
            length=LENGTH * _spreads(text, length) if in_session else 0.0,
            bare_question=BARE_QUESTION if is_bare_question(text) else 0.0,
        )

    def names(self, actor: str) -> bool:
        """By the whole name or by the first one."""
        return any(pattern.search(self._folded) for pattern in _patterns(actor))


def is_bare_question(text: str) -> bool:
    """It asks and tells nothing."""
    stripped = text.rstrip()
    return len(stripped) <= SHORT_QUESTION and stripped.endswith(_QUESTION_MARKS)


def _spreads(text: str, length: int) -> float:
    size = length * (2 if _UNSPACED.search(text) else 1)
    return max(-MOST_SPREADS, min(MOST_SPREADS, log(max(size, 1) / USUAL_TURN) / SPREAD))


@lru_cache(1 << 10)
def _patterns(actor: str) -> tuple[re.Pattern[str], ...]:
    folded = fold(actor).strip()
    first = _FIRST_NAME.search(folded)
    names = {folded, first[0] if first else ""} - {""}
    return tuple(re.compile(_as_word(name)) for name in sorted(names) if len(name) > 1)


def _as_word(name: str) -> str:
    return re.escape(name) if _UNSPACED.search(name) else rf"(?<!\w){re.escape(name)}(?!\w)"
