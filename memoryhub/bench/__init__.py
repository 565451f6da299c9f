"""`memoryhub bench`: how good the hub is at what it does, and what that costs."""

from __future__ import annotations

from pathlib import Path

import click

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
def search(data_dir: Path | None, locomo: Path) -> None:
    """Store texts in spaces made for it, and ask: what is found, how soon, at what cost. Use a hub you can spare."""
    from memoryhub.bench.searching import run

    for line in run(data_dir, locomo if locomo.exists() else None):
        click.echo(line)
