"""Rows of measurements, each beside the limit it is held to."""

from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("", "measured", "ratio", "limit", "")


@dataclass(frozen=True)
class Row:
    """`ratio` is to the run's bound. With `at_most` or `at_least` it is held to a limit: the one on the ratio, the
    other on the measured number."""

    name: str
    measured: float
    unit: str
    ratio: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def missed(self) -> bool:
        too_much = self.at_most is not None and self.ratio > self.at_most
        too_little = self.at_least is not None and self.measured < self.at_least
        return too_much or too_little

    @property
    def limit(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:.2f} x"
        return f">= {self.at_least:.0f} {self.unit}" if self.at_least is not None else ""

    @property
    def verdict(self) -> str:
        return ("missed" if self.missed else "kept") if self.limit else ""

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            f"{self.measured:.0f} {self.unit}",
            f"{self.ratio:.2f} x",
            self.limit,
            self.verdict,
        )


def drawn(rows: Sequence[Row]) -> str:
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
