"""`memoryhub bench`: how good the hub is at what it does, and what that costs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memoryhub.bench.table import Row

LOCOMO = Path("locomo10.json")


@click.group()
def bench() -> None:
    """Measure the hub on this machine."""


@bench.command()
@click.option(
    "--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Of a hub that is running."
)
@click.option(
    "--locomo",
    type=click.Path(path_type=Path, dir_okay=False),
    default=LOCOMO,
    show_default=True,
    help="The conversations of LoCoMo, where you have them; they are not part of the hub.",
)
@click.option("--quality/--no-quality", default=True, help="What is found, how soon and at what cost.")
@click.option(
    "--memories",
    "sizes",
    type=click.Choice(["10000", "100000", "1000000"]),
    multiple=True,
    help="How fast with so many, in 1, 50 or 1,000 accounts that stay; what is stored is kept, so that it may be"
    " stopped and goes on. A million take an hour and 5 GB. May be repeated.",
)
def search(data_dir: Path | None, locomo: Path, quality: bool, sizes: tuple[str, ...]) -> None:
    """Store texts in spaces made for it, and ask: what is found, how soon, at what cost. Use a hub you can spare."""
    from memoryhub.bench.searching import run

    found = locomo if locomo.exists() else None
    for line in run(data_dir, found, quality=quality, sizes=[int(size) for size in sizes]):
        click.echo(line)


@bench.command()
@click.option(
    "--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Of a hub that is running."
)
@click.option("--idle", default=30, show_default=True, type=click.IntRange(2), help="Writes by themselves.")
@click.option("--rate", default=50.0, show_default=True, help="Writes a second, for the second part.")
@click.option("--seconds", default=20.0, show_default=True, help="How long the second part takes.")
def freshness(data_dir: Path | None, idle: int, rate: float, seconds: float) -> None:
    """How soon a write is found by its meaning, idle and beside many others, and what it costs. Use a hub you can
    spare."""
    from memoryhub.bench.freshness import Plan, run

    for line in run(data_dir, Plan(idle, rate, seconds)):
        click.echo(line)


@bench.command()
@click.option("--rounds", default=100, show_default=True, type=click.IntRange(1))
@click.option(
    "--calls", default=20, show_default=True, type=click.IntRange(1), help="Of each kind in a round."
)
def mcp(rounds: int, calls: int) -> None:
    """CPU of a small read over MCP, beside a bare route that makes the same queries. On a hub of its own."""
    from memoryhub.bench.hub import throwaway_hub

    with throwaway_hub() as hub:
        from memoryhub.bench.reading import measure

        report(measure(hub, rounds, calls))


@bench.command()
@click.option("--rounds", default=60, show_default=True, type=click.IntRange(1))
@click.option(
    "--calls", default=10, show_default=True, type=click.IntRange(1), help="Of each kind in a round."
)
def families(rounds: int, calls: int) -> None:
    """CPU of a search and of a write in each family, beside the same in the hub's own. On a hub of its own."""
    from memoryhub.bench.hub import throwaway_hub

    with throwaway_hub() as hub:
        from memoryhub.bench.families import measure

        report(measure(hub, rounds, calls))


@bench.command()
@click.option("--clients", default=16, show_default=True, type=click.IntRange(1))
@click.option("--each", default=60, show_default=True, type=click.IntRange(1), help="Writes by each client.")
def writes(clients: int, each: int) -> None:
    """Memories acknowledged a second by one web process, beside a bare route that inserts. On a hub of its own."""
    from memoryhub.bench.hub import throwaway_hub

    with throwaway_hub() as hub:
        from memoryhub.bench.writing import measure

        report(measure(hub, clients, each))


@bench.command()
@click.option(
    "--rounds", default=2, show_default=True, type=click.IntRange(1), help="Of every kind in every carrier."
)
@click.option(
    "--clean", default=6000, show_default=True, type=click.IntRange(100), help="Lines without a secret."
)
@click.option("--seed", type=int, help="To draw the same again; another one each time if left out.")
@click.option("--compare/--alone", default=True, help="Beside gitleaks and detect-secrets, where installed.")
def secrets(rounds: int, clean: int, seed: int | None, compare: bool) -> None:
    """Plant secrets of many kinds in many notations: how many are cut, and how many clean lines are touched."""
    from memoryhub.bench.secrets.measuring import measure, told

    seed = seed if seed is not None else int.from_bytes(os.urandom(4))
    result = measure(rounds=rounds, clean=clean, seed=seed, compare=compare)
    for line in told(result, seed):
        click.echo(line)
    sys.exit(not result.holds)


@bench.command()
def dreams() -> None:
    """What a dream costs besides the model, and finding near-identical memories. On a hub of its own."""
    from memoryhub.bench.hub import throwaway_hub

    with throwaway_hub():
        from memoryhub.bench.dreaming import measure

        report(measure())


def report(rows: list[Row]) -> None:
    """Exits with 1 where a limit is missed."""
    from memoryhub.bench.table import drawn

    click.echo(drawn(rows))
    sys.exit(any(row.missed for row in rows))


@bench.command()
@click.option(
    "--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Of a hub; it may be running."
)
@click.option("--memories", default=100_000, show_default=True, type=click.IntRange(1))
def export(data_dir: Path | None, memories: int) -> None:
    """Export a space of many memories as `memoryhub export` does: how long it takes, and how much memory."""
    from memoryhub.bench.exporting import run

    for line in run(data_dir, memories):
        click.echo(line)
