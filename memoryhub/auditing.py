"""The commands that look after the audit trail: `memoryhub audit verify`, `checkpoint` and `key`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memoryhub.cli import ACCOUNT, DATA_DIR, JSON, cli
from memoryhub.running.instance import open_instance

if TYPE_CHECKING:
    from accounts.domain.chain import Verdict
    from accounts.models import Account

CHECKPOINTS = click.option(
    "--checkpoints",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The folder with signed checkpoints. Default: AUDIT_DIR, which `up` keeps in the data directory.",
)


@cli.group()
def audit() -> None:
    """The record of what happened: a chain in which nothing can be changed unseen."""


@audit.command("verify")
@DATA_DIR
@ACCOUNT
@CHECKPOINTS
@click.option(
    "--public-key",
    "keys",
    multiple=True,
    help="A key that checkpoints may be signed with, beside the installation's own.",
)
@JSON
def verify_(
    data_dir: Path | None,
    account: str | None,
    checkpoints: Path | None,
    keys: Sequence[str],
    as_json: bool,
) -> None:
    """Go through every event of each team, and hold the chain against what was signed of it.

    Answers 1, and names the first event that doesn't fit, where something was changed, removed or put in.
    """
    with open_instance(data_dir):
        import django

        django.setup()
        answers = [*_verdicts(account, checkpoints, keys), *_gone(account, checkpoints)]
    if as_json:
        click.echo(json.dumps({"accounts": answers}, indent=2))
    else:
        for answer in answers:
            click.echo(_words(answer))
    sys.exit(any(answer["fault"] for answer in answers))


@audit.command()
@DATA_DIR
@ACCOUNT
def checkpoint(data_dir: Path | None, account: str | None) -> None:
    """Look through the chain and sign its end now. The worker does it each hour."""
    with open_instance(data_dir):
        import django

        django.setup()
        from accounts.domain.checkpoints import check_chain
        from memoryhub.common.tenancy import tenant

        for found in _accounts(account):
            with tenant(found.id):
                made = check_chain(found.id)
            click.echo(f"{found.slug}: {made.fault or f'signed at event {made.seq}'}")


@audit.command()
@DATA_DIR
def key(data_dir: Path | None) -> None:
    """Print the public key that checkpoints are signed with, and its fingerprint, which checkpoints and the page Audit
    name it by. Keep the key elsewhere, to verify without trusting us."""
    with open_instance(data_dir):
        from django.conf import settings

        from memoryhub.common.signing import key_id, public_key

        public = public_key(settings.AUDIT_KEY)
    click.echo(public)
    click.echo(f"Its fingerprint: {key_id(public)}", err=True)


def _accounts(slug: str | None) -> list[Account]:
    from accounts.domain.accounts import every_account, only_account

    return [only_account(slug)] if slug else every_account()


def _verdicts(slug: str | None, folder: Path | None, keys: Sequence[str]) -> list[dict[str, Any]]:
    from accounts.domain.checkpoints import verify
    from memoryhub.common.tenancy import snapshot

    answers = []
    for found in _accounts(slug):
        with snapshot(found.id):
            answers.append(_answer(found.slug, verify(found.id, folder, keys)))
    return answers


def _gone(slug: str | None, folder: Path | None) -> list[dict[str, Any]]:
    """Accounts of which there are checkpoints, and nothing else."""
    from accounts.domain.accounts import every_account
    from accounts.domain.checkpoints import accounts_with_marks

    if slug:
        return []
    gone = accounts_with_marks(folder) - {found.id for found in every_account()}
    what = "There are signed checkpoints of this account, but no account."
    return [_told(str(id), 0, 0, 0, {"first": 1, "last": 1, "what": what}) for id in sorted(gone)]


def _answer(account: str, verdict: Verdict) -> dict[str, Any]:
    fault = asdict(verdict.fault) if verdict.fault else None
    return _told(account, verdict.seq, verdict.marks, verdict.unsealed, fault)


def _told(account: str, seq: int, marks: int, unsealed: int, fault: dict[str, Any] | None) -> dict[str, Any]:
    told = {"account": account, "verified": seq, "checkpoints": marks, "unsealed": unsealed}
    return {**told, "fault": fault}


def _words(answer: dict[str, Any]) -> str:
    waiting = f", {answer['unsealed']} not sealed yet" if answer["unsealed"] else ""
    agrees = f"{answer['verified']} events, {answer['checkpoints']} signed checkpoints agree{waiting}"
    if answer["fault"]:
        return f"{answer['account']}: BROKEN. {answer['fault']['what']} Whole up to there: {agrees}."
    return f"{answer['account']}: whole. {agrees}."
