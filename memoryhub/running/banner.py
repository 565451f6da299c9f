"""What `memoryhub up` says once it serves."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

STARTING = "Starting Memory Hub. The first time takes longer: the database and the model are set up."
NO_DEMO = "--demo fills a hub in which nothing has been written yet. Nothing was added to this one."
PREPARED = "The database is up to date."
UNENCRYPTED = """\
  Others on the network can reach it, and nothing is encrypted on the way: put a proxy with TLS in front,
  and set PUBLIC_URL to its https address.
"""


def welcome(first: Mapping[str, str], data_dir: Path) -> str:
    """The first time: how to become the owner and how to connect an agent."""
    client = {
        "type": "http",
        "url": first["mcp_url"],
        "headers": {"Authorization": f"Bearer {first['agent_key']}"},
    }
    return "\n".join(
        [
            *_heading(first["url"]),
            *_part("Become its owner (the link works once, for 7 days)", first["owner_url"]),
            *_part("Connect Claude Code", _claude_command(first)),
            *_part(
                "Connect any other MCP client", json.dumps({"mcpServers": {"memory-hub": client}}, indent=2)
            ),
            *_footing(data_dir, "The link and the key are kept in first-run.json there."),
        ]
    )


def prepared(first_run: Path) -> str:
    """After the first team was made for processes that run apart."""
    return f"{PREPARED} The link that makes its first owner, and a first key, are in {first_run}."


def again(url: str, data_dir: Path) -> str:
    return "\n".join([*_heading(url), *_footing(data_dir)])


def _claude_command(first: Mapping[str, str]) -> str:
    header = f'--header "Authorization: Bearer {first["agent_key"]}"'
    return f"claude mcp add --transport http memory-hub {first['mcp_url']} {header}"


def _heading(url: str) -> list[str]:
    return ["", f"  {_bold('Memory Hub')} is running at {_bold(url)}", ""]


def _part(title: str, text: str) -> list[str]:
    return [f"  {title}", *(f"    {_cyan(line)}" for line in text.splitlines()), ""]


def _footing(data_dir: Path, *more: str) -> list[str]:
    return [f"  Everything is in {data_dir}. {' '.join(more)}".rstrip(), "  Ctrl-C stops it.", ""]


def _bold(text: str) -> str:
    return click.style(text, bold=True) if sys.stdout.isatty() else text


def _cyan(text: str) -> str:
    return click.style(text, fg="cyan") if sys.stdout.isatty() else text
