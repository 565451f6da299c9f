"""The commands that carry data out and in: `memoryhub export`, `import`, `backup` and `restore`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

import click

from memoryhub.cli import ACCOUNT, DATA_DIR, JSON, acting, cli, member
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
            rows = export.rows
        with whole_file(output) as target, progress("rows", rows) as told:
            for piece in stream_export(export, told):
                target.write(piece)
    answer = {"file": str(output), "bytes": output.stat().st_size}
    click.echo(json.dumps(answer, indent=2) if as_json else f"{answer['file']}: {answer['bytes']} bytes")


@cli.command("import")
@DATA_DIR
@ACCOUNT
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--space", help="The space, by id or slug. Default: the only or oldest one.")
@click.option(
    "--from", "part", default="", help="Of an export of a whole account: the slug of the space in it."
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be new, changed or in conflict; change nothing."
)
@click.option("--keep", is_flag=True, help="Where the file differs from what is here, keep what is here.")
@JSON
def import_(
    data_dir: Path | None,
    account: str | None,
    file: Path,
    space: str | None,
    part: str,
    dry_run: bool,
    keep: bool,
    as_json: bool,
) -> None:
    """Take an export into a space, or what another system has kept: all of it or nothing.

    FILE is a ZIP of ours, the MCP memory server's JSONL, a mem0, ZeroDB or OpenMemory export, ChatGPT's saved
    memories as text, rules such as CLAUDE.md, or a folder of basic-memory's notes.
    """
    with acting(data_dir, account) as actor, opened(file) as content, progress("rows", 0) as told:
        from memoryhub.flows.importing import import_file

        report = import_file(
            actor, content, name=file.name, space=space, part=part, dry_run=dry_run, keep=keep, told=told
        )
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else "\n".join(report.as_lines()))


@cli.command()
@DATA_DIR
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--without-secrets", is_flag=True, help="Leave out the keys of this instance; keep them elsewhere."
)
def backup(data_dir: Path | None, file: Path, without_secrets: bool) -> None:
    """Write the whole instance into FILE: its database as one moment saw it, and its secrets. It may run meanwhile.

    Whoever has the file has everything. With a database of your own set DATABASE_URL and DATABASE_OWNER_URL; what of
    the secrets is in your environment is not in the file.
    """
    from memoryhub.running.backup import back_up

    with open_instance(data_dir) as instance, whole_file(file) as target:
        manifest = back_up(instance, target, with_secrets=not without_secrets)
    click.echo(f"{file}: {sum(manifest['counts'].values()):,} rows of {len(manifest['counts'])} tables")
    click.echo(f"Delete it after {manifest['delete_after']}: until then it keeps what is forgotten here.")


@cli.command()
@DATA_DIR
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def restore(data_dir: Path | None, file: Path) -> None:
    """Restore a backup into an empty database, bring it up to date, and check all of it.

    Nothing is overwritten: name a new --data-dir, or an empty database of your own.
    """
    from memoryhub.running import backup as backups
    from memoryhub.running import prepare
    from memoryhub.running.instance import Instance, find_data_dir

    instance = Instance(find_data_dir(data_dir))
    instance.make()
    with instance.embedded or nullcontext():
        manifest = backups.restore(instance, file)
        os.environ.update(instance.environment(os.environ))
        prepare.migrate(os.environ)
        events = check_chains()
    click.echo(
        f"Restored {sum(manifest['counts'].values()):,} rows, and checked the chain of {events:,} events."
    )


def check_chains() -> int:
    """How many events there are in whole chains."""
    import django

    django.setup()
    from accounts.domain.accounts import every_account
    from accounts.domain.chain import look_through
    from memoryhub.common.tenancy import tenant

    found = 0
    for account in every_account():
        with tenant(account.id):
            verdict = look_through(account.id)
        if verdict.fault:
            raise SetupError(f"The chain of events of {account.slug} is broken. {verdict.fault.what}")
        found += verdict.seq
    return found


@member.command("erase")
@DATA_DIR
@ACCOUNT
@click.argument("email")
def erase_member_(data_dir: Path | None, account: str | None, email: str) -> None:
    """Erase a person of the team: shows what would go, and asks for the address once more.

    What they wrote is the team's, and stays.
    """
    with acting(data_dir, account) as actor:
        from memoryhub.flows.erasing import erase_member, member_with_address, preview_member

        person = member_with_address(actor, email)
        for name, count in preview_member(actor, person).counts.items():
            click.echo(f"{count} × {name}")
        receipt = erase_member(actor, person, typed=click.prompt("Type the address to erase them for good"))
    click.echo(f"{receipt.id} is erased.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file; a folder as a ZIP of its files."""
    if path.is_file():
        with path.open("rb") as content:
            yield content
        return
    with tempfile.TemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for found in sorted(path.rglob("*")):
                if found.is_file() and not any(p.startswith(".") for p in found.relative_to(path).parts[:-1]):
                    archive.write(found, found.relative_to(path).as_posix())
        packed.seek(0)
        yield packed


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner may read, there whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)  # whoever made it could read it
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
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
            of = f" of about {max(done, self.total):,}" if self.total else ""
            click.echo(f"\r{done:,}{of} {self.noun}", nl=False, err=True)

    def end(self) -> None:
        if self.shown:
            click.echo("\r\033[K", nl=False, err=True)
