"""The table of rules, compiled once, with one pass over a text that tells which of them are worth trying."""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import re2

from memoryhub.common.secrets.checks import CHECKS
from memoryhub.common.secrets.spans import Span

SECRET = "secret"


@dataclass(frozen=True)
class Rule:
    name: str
    category: str
    source: str
    keywords: tuple[str, ...]
    hint: str
    pattern: Any
    group: int
    check: Callable[[str], bool] | None
    real: tuple[str, ...]
    harmless: tuple[str, ...]

    def find(self, text: str, raw: bytes, at: Callable[[int], int]) -> Iterator[Span]:
        """`raw` is the text in UTF-8; `at` turns a place in it into one in the text."""
        for match in self.pattern.finditer(raw):
            start, end = (at(place) for place in match.span(self.group))
            if self.check is None or self.check(text[start:end]):
                yield Span(start, end, self.category)


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    table = tomllib.loads(resources.files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
    return tuple(_rule(**row) for row in table["rule"])


def _rule(*, pattern: str, hint: str = "", check: str = "", **row: Any) -> Rule:
    compiled = re2.compile(pattern)
    return Rule(
        name=row["name"],
        category=row["category"],
        source=row["source"],
        keywords=tuple(row["keywords"]),
        hint=hint,
        pattern=compiled,
        group=compiled.groupindex.get(SECRET, 0),
        check=CHECKS[check] if check else None,
        real=tuple(row["real"]),
        harmless=tuple(row["harmless"]),
    )


@lru_cache(maxsize=1)
def _prefilter() -> Any:
    options = re2.Options()
    options.max_mem = 64 * 1024 * 1024  # a set that runs out of it would find nothing
    hints = re2.Set.SearchSet(options)
    for rule in rules():
        keywords = "|".join(re.escape(word) for word in rule.keywords)
        hints.Add(f"(?i:{keywords})" if keywords else rule.hint)
    hints.Compile()
    return hints


def worth_trying(raw: bytes) -> list[Rule]:
    table = rules()
    return [table[index] for index in _prefilter().Match(raw) or ()]
