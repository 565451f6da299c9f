"""The command that goes over what is stored by the rules for secrets as they are now: `memoryhub secrets rescan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import click

from memoryhub.cli import ACCOUNT, DATA_DIR, JSON, cli
from memoryhub.running.files import read_json, write_private
from memoryhub.running.instance import find_data_dir, open_instance

if TYPE_CHECKING:
    from memoryhub.flows.rescanning import Found, Position

PROGRESS = "rescan.json"


@cli.group()
def secrets() -> None:
    """Secrets in what is stored."""


@secrets.command("rescan")
@DATA_DIR
@ACCOUNT
@click.option("--dry-run", is_flag=True, help="Only tell what would be cut.")
@click.option("--anew", is_flag=True, help="From the beginning, though an earlier run was ended on its way.")
@JSON
def rescan_(data_dir: Path | None, account: str | None, dry_run: bool, anew: bool, as_json: bool) -> None:
    """Go over what every team has stored, and cut out what is a secret by the rules of this version.

    It may be ended and goes on where it was. Each team's owners and admins see it in the audit trail.
    """
    with open_instance(data_dir):
        import django

        django.setup()
        import memoryhub.operations.catalogue  # noqa: F401 (makes every kind known)
        from accounts.domain.accounts import every_account, only_account

        chosen = [only_account(account)] if account else every_account()
        progress = find_data_dir(data_dir) / PROGRESS
        if anew:
            progress.unlink(missing_ok=True)
        answers = {each.slug: _account(each.id, progress, dry_run) for each in chosen}
        if not dry_run:
            progress.unlink(missing_ok=True)
    if as_json:
        click.echo(
            json.dumps({slug: [f.as_dict() for f in found] for slug, found in answers.items()}, indent=2)
        )
    else:
        for slug, found in answers.items():
            click.echo("\n".join([slug, *(f"  {each.as_line()}" for each in found)]))


def _account(id: UUID, progress: Path, dry_run: bool) -> list[Found]:
    """What was found from where it began. A dry run looks at everything."""
    from memoryhub.flows.rescanning import Found, rescan

    found: dict[str, Found] = {}
    since = _position("" if dry_run else str(read_json(progress).get(id.hex, "")))
    for position, batch in rescan(id, dry_run=dry_run, since=since):
        found.setdefault(batch.table, Found(batch.table)).add(batch)
        if not dry_run:
            write_private(progress, {**read_json(progress), id.hex: f"{position.table} {position.after}"})
    return list(found.values())


def _position(told: str) -> Position:
    from memoryhub.flows.rescanning import Position

    table, _, after = told.partition(" ")
    return Position(table, UUID(after)) if after else Position()
