"""The `memoryhub` command. Each command translates its options, calls the domain once and prints the answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accounts.scopes import PRESETS, Role
from memoryhub.bench import bench
from memoryhub.common.env import BadEnvironment
from memoryhub.running.errors import SetupError
from memoryhub.running.instance import Instance, find_data_dir, open_instance

if TYPE_CHECKING:
    from accounts.actor import Actor
    from accounts.models import AgentKey

DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where everything is kept. Default: $MEMORYHUB_DATA_DIR, else your data folder (root: /var/lib/memoryhub).",
)
ACCOUNT = click.option("--account", metavar="SLUG", help="The team; needed where there are several.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="memoryhub")
def cli() -> None:
    """Memory Hub: a team memory for AI agents. They remember and propose; people decide."""


@cli.command()
@DATA_DIR
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
@click.option("--demo", is_flag=True, help="Fill the first space with what a team might have written.")
def up(data_dir: Path | None, host: str, port: int, demo: bool) -> None:
    """Run everything: database, web server, worker and schedule."""
    from memoryhub.running.up import up as run

    run(data_dir, host, port, demo=demo)


@cli.command()
@DATA_DIR
@click.option("--port", default=8765, show_default=True, type=click.IntRange(1, 65535))
@JSON
def doctor(data_dir: Path | None, port: int, as_json: bool) -> None:
    """Look for what keeps this setup from working, and say how to mend it."""
    from memoryhub.running.doctor import examine

    findings = examine(data_dir, port)
    if as_json:
        click.echo(json.dumps([finding.as_dict() for finding in findings], indent=2))
    else:
        for finding in findings:
            click.echo(finding.as_line())
    sys.exit(any(finding.bad for finding in findings))


@cli.command()
@DATA_DIR
def prepare(data_dir: Path | None) -> None:
    """Migrate the database that DATABASE_URL names, and make the first team in an empty one.

    For processes that run apart; `up` does this itself.
    """
    from memoryhub.running.up import prepare_only

    click.echo(prepare_only(data_dir))


@cli.command()
@DATA_DIR
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8766, show_default=True, type=click.IntRange(1, 65535))
def embedder(data_dir: Path | None, host: str, port: int) -> None:
    """Serve the embedding model to hubs on this or other machines, without anything else.

    They reach it with EMBEDDING_URL=http://HOST:PORT/v1, and with its EMBEDDER_API_KEY as their EMBEDDING_API_KEY.
    `memoryhub up` runs one of its own.
    """
    from memoryhub.common.env import envsecret
    from memoryhub.running.embedder import serve
    from memoryhub.running.listening import listen

    serve(listen(host, port), data_dir=data_dir, api_key=envsecret("EMBEDDER_API_KEY"))


@cli.command()
@DATA_DIR
@click.option("--anew", is_flag=True, help="Make all vectors again, even though the model is the same.")
@click.option("--status", is_flag=True, help="Only tell how far each model is, in all accounts together.")
def reembed(data_dir: Path | None, anew: bool, status: bool) -> None:
    """Give every memory the vectors it lacks, of the configured model, and show how far it is.

    It may be stopped: the worker goes on by itself. Searches use the former model until all is done.
    """
    with open_instance(data_dir):
        import django

        django.setup()
        from spaces.domain.embeddings.changing import overall_progress
        from spaces.domain.embeddings.reembedding import reembed as start
        from spaces.embedding.base import EmbeddingError

        try:
            for progress in overall_progress() if status else start(anew=anew):
                click.echo(progress.as_line())
        except (EmbeddingError, LookupError) as error:
            raise SetupError(str(error)) from error


@cli.command(context_settings={"ignore_unknown_options": True})
@DATA_DIR
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def manage(data_dir: Path | None, arguments: Sequence[str]) -> None:
    """Run a command of Django on this instance, such as `migrate` or `createsuperuser`."""
    with open_instance(data_dir):
        if arguments[:1] in (("migrate",), ("sqlmigrate",)):
            os.environ.setdefault("MEMORYHUB_DB_ROLE", "owner")
        from django.core.management import execute_from_command_line

        execute_from_command_line(["memoryhub manage", *arguments])


@contextmanager
def acting(data_dir: Path | None, account: str | None) -> Iterator[Actor]:
    """The system as an actor in one account, which is in force meanwhile."""
    with open_instance(data_dir):
        import django

        django.setup()
        from accounts.actor import system_actor
        from accounts.domain.accounts import only_account
        from memoryhub.common.errors import HubError
        from memoryhub.common.tenancy import tenant

        try:
            found = only_account(account)
            with tenant(found.id):
                yield system_actor(found.id)
        except HubError as error:
            raise SetupError(error.message) from error


def show(answer: Mapping[str, Any], as_json: bool, words: str) -> None:
    """Only after the commit: what was printed must hold."""
    click.echo(json.dumps(answer, indent=2) if as_json else words)


@cli.group()
def key() -> None:
    """Keys for agents."""


@key.command("create")
@DATA_DIR
@ACCOUNT
@click.option("--name", default="command line", show_default=True)
@click.option("--preset", type=click.Choice(list(PRESETS)))
@click.option("--scopes", help="Scopes, separated by commas, instead of a preset.")
@click.option("--space", help="The default space, by id or slug. Default: the only or oldest one.")
@click.option(
    "--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How long it lives."
)
@JSON
def create(
    data_dir: Path | None,
    account: str | None,
    name: str,
    preset: str | None,
    scopes: str | None,
    space: str | None,
    days: int,
    as_json: bool,
) -> None:
    """Make a key and print it, this once."""
    with acting(data_dir, account) as actor:
        from django.utils import timezone

        from accounts.domain.keys import create_key
        from spaces.domain.access import access_space

        made = create_key(
            actor,
            name=name,
            default_space_id=access_space(actor, space).id,
            preset=preset if preset or scopes else "agent",
            scopes=scopes.replace(",", " ").split() if scopes else None,
            expires_at=timezone.now() + timedelta(days=days),
        )
        answer = {**describe(made.key), "key": made.secret}
    show(answer, as_json, made.secret)


@key.command("list")
@DATA_DIR
@ACCOUNT
@JSON
def list_(data_dir: Path | None, account: str | None, as_json: bool) -> None:
    """List keys, newest first, without their secrets."""
    with acting(data_dir, account) as actor:
        from accounts.domain.keys import list_keys

        keys = [describe(key) for key in list_keys(actor)]
    lines = (f"{key['id']}  {key['state']:8} …{key['hint']}  {key['name']}" for key in keys)
    show({"keys": keys}, as_json, "\n".join(lines))


@key.command()
@DATA_DIR
@ACCOUNT
@click.argument("key_id")
@JSON
def revoke(data_dir: Path | None, account: str | None, key_id: str, as_json: bool) -> None:
    """End a key now."""
    with acting(data_dir, account) as actor:
        from accounts.domain.keys import revoke_key

        ended = describe(revoke_key(actor, key_id))
    show(ended, as_json, f"{ended['id']} is revoked.")


def describe(key: AgentKey) -> dict[str, Any]:
    from memoryhub.common.ids import typed_id
    from memoryhub.common.times import format_time

    return {
        "id": typed_id("key", key.id),
        "name": key.name,
        "hint": key.hint,
        "state": "revoked" if key.revoked_at else "live" if key.is_live else "expired",
        "scopes": key.scopes,
        "default_space_id": typed_id("spc", key.default_space_id) if key.default_space_id else None,
        "created_at": format_time(key.created_at),
        "expires_at": format_time(key.expires_at) if key.expires_at else None,
        "last_used_at": format_time(key.last_used_at) if key.last_used_at else None,
    }


@cli.group()
def space() -> None:
    """Spaces: what a team remembers, apart from other spaces."""


@space.command("create")
@DATA_DIR
@ACCOUNT
@click.option("--name", required=True)
@click.option("--slug", help="Default: made from the name.")
@click.option("--time-zone", default="UTC", show_default=True)
@JSON
def create_space_(
    data_dir: Path | None, account: str | None, name: str, slug: str | None, time_zone: str, as_json: bool
) -> None:
    """Make a space."""
    with acting(data_dir, account) as actor:
        from memoryhub.common.ids import typed_id
        from spaces.domain.spaces import create_space

        made = create_space(actor, name=name, slug=slug, time_zone=time_zone)
        answer = {"id": typed_id("spc", made.id), "name": made.name, "slug": made.slug}
    show(answer, as_json, f"{answer['id']}  {made.slug}")


@cli.group()
def member() -> None:
    """People of a team."""


@member.command()
@DATA_DIR
@ACCOUNT
@click.option("--email", default="", help="Whom the invitation is for.")
@click.option("--role", type=click.Choice([str(role) for role in Role]), default="member", show_default=True)
@JSON
def add(data_dir: Path | None, account: str | None, email: str, role: str, as_json: bool) -> None:
    """Invite a person and print the one-time link that lets them in."""
    with acting(data_dir, account) as actor:
        from django.conf import settings

        from accounts.domain.invitations import invite
        from memoryhub.common.times import format_time

        made = invite(actor, Role(role), email=email)
        expires = format_time(made.invitation.expires_at)
    url = f"{settings.PUBLIC_URL}/welcome/{made.token}/"
    show({"url": url, "role": role, "email": email, "expires_at": expires}, as_json, url)


@member.command()
@DATA_DIR
@ACCOUNT
@click.argument("email")
@JSON
def reset(data_dir: Path | None, account: str | None, email: str, as_json: bool) -> None:
    """Print a one-time link under which a person chooses a new password."""
    with acting(data_dir, account) as actor:
        from accounts.domain.passwords import make_reset_link

        url = make_reset_link(actor, email)
    show({"url": url, "email": email}, as_json, url)


@cli.group()
def keyring() -> None:
    """The keys that tokens and other secrets are sealed under at rest."""


@keyring.command("new")
def new_entry_() -> None:
    """Print a fresh key, to be put first on KEYRING."""
    from memoryhub.common.keyring import new_entry

    click.echo(new_entry())


@keyring.command("add")
@DATA_DIR
def add_entry(data_dir: Path | None) -> None:
    """Put a fresh key first on the keyring of the data directory. It holds from the next start."""
    kid = Instance(find_data_dir(data_dir)).add_key()
    click.echo(f"{kid} is the first key now. Start again, then: memoryhub keyring rotate")


@keyring.command()
@DATA_DIR
@JSON
def rotate(data_dir: Path | None, as_json: bool) -> None:
    """Seal everything under the first key; after that the others may be taken off the keyring."""
    with open_instance(data_dir):
        import django

        django.setup()
        from memoryhub.common.errors import HubError
        from memoryhub.flows.resealing import reseal_all

        try:
            resealed = sum(reseal_all().values())
        except HubError as error:
            raise SetupError(error.message) from error
    show({"resealed": resealed}, as_json, f"{resealed} sealed anew")


cli.add_command(rotate, "rotate-keys")
cli.add_command(bench)

import memoryhub.auditing  # noqa: E402 (adds its commands)
import memoryhub.moving  # noqa: E402
import memoryhub.rescanning  # noqa: E402, F401 (adds its command)


def main() -> None:
    """Run the command; what a person can put right is said in plain words, without a traceback."""
    try:
        cli()
    except (SetupError, BadEnvironment) as error:
        click.echo(f"memoryhub: {error}", err=True)
        sys.exit(1)
