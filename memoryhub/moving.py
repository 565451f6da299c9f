"""The commands that carry data out and in: `memoryhub export`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from memoryhub.cli import ACCOUNT, DATA_DIR, JSON, acting, cli
from memoryhub.running.errors import SetupError
from memoryhub.running.instance import open_instance


@cli.command("export")
@DATA_DIR
@ACCOUNT
@click.option("--space", help="The space, by id or slug. Default: the only or oldest one.")
@click.option(
    "--whole-account", is_flag=True, help="Every space, and what belongs to the account as a whole."
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The ZIP to write."
)
@JSON
def export_(
    data_dir: Path | None,
    account: str | None,
    space: str | None,
    whole_account: bool,
    output: Path,
    as_json: bool,
) -> None:
    """Write everything a space holds into a ZIP: a JSON line for each row, and Markdown for people.

    Keys, tokens and vectors are not in it. Whoever has the file can read all of it.
    """
    with open_instance(data_dir):
        with acting(data_dir, account) as actor:
            from memoryhub.flows.export import open_export, stream_export

            export = open_export(actor, space, whole_account=whole_account)
        with whole_file(output) as target, progress("rows", export.rows) as told:
            for piece in stream_export(export, told):
                target.write(piece)
    answer = {"file": str(output), "bytes": output.stat().st_size}
    click.echo(json.dumps(answer, indent=2) if as_json else f"{answer['file']}: {answer['bytes']} bytes")


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner may read, there whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
            yield target
        part.replace(path)
    except OSError as error:
        raise SetupError(f"Cannot write {path}: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def progress(noun: str, total: int) -> Iterator[Progress]:
    """On a terminal, a line that is written over; else nothing."""
    told = Progress(noun, total)
    yield told
    told.end()


class Progress:
    def __init__(self, noun: str, total: int) -> None:
        self.noun, self.total, self.shown = noun, total, sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        if self.shown:
            click.echo(f"\r{done:,} of about {max(done, self.total):,} {self.noun}", nl=False, err=True)

    def end(self) -> None:
        if self.shown:
            click.echo("\r\033[K", nl=False, err=True)
