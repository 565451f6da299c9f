"""What an import reads: rows of kinds, with the place in the file that each comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.secrets import cut_text
from spaces.domain.kinds import Row

Rows = Callable[[], Iterator[tuple[int, Row]]]


@dataclass(frozen=True)
class File:
    """A file (or part of one) with rows of one kind. `rows` gives each with the number of its line."""

    prefix: str
    path: str
    rows: Rows


@dataclass(frozen=True)
class LeftOut:
    """What has no place here, and why."""

    what: str
    count: int
    why: str


@dataclass
class Source:
    """`left_out` is whole only when all rows have been read."""

    system: str
    files: list[File] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def refused(path: str, line: int | None, message: str) -> ValidationFailed:
    path, message = without_secrets(path), without_secrets(message)
    return ValidationFailed({f"{path} line {line}" if line else path: [message]})


def without_secrets(text: str) -> str:
    """What is told of a file is kept with the report: names in it are as little trusted as its rows."""
    return cut_text(text)[0]
