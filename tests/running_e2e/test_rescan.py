"""`memoryhub secrets rescan` on a hub that runs: what was stored before its rule was there is cut and counted."""

from __future__ import annotations

import json
import subprocess
from random import Random
from typing import Any

import httpx2 as httpx

from memoryhub.common.secrets.shapes import expand
from tests.running_e2e.harness import Hub

SECRET = expand("ghp_{crc:30}", Random(41))


def rescanned(running: Hub, *options: str) -> dict[str, Any]:
    done = running.run("secrets", "rescan", "--json", *options)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout).values()
    return {table["table"]: table for table in found}


def test_it_is_told_then_cut_then_gone(running: Hub) -> None:
    headers = {"Authorization": f"Bearer {running.first_run['agent_key']}"}
    with httpx.Client(base_url=running.url, headers=headers, timeout=30) as client:
        made = client.post("/v1/memories", json={"text": "Deploys use something at night"}).raise_for_status()
        address = f"/v1/memories/{made.json()['memory']['id']}"
        _stored_long_ago(running, f"Deploys use {SECRET} at night")
        would = rescanned(running, "--dry-run")
        assert would["spaces.Memory"]["secrets"] == [{"category": "github_token", "count": 1}]
        assert SECRET in client.get(address).text
        assert rescanned(running) == would
        assert client.get(address).json()["memory"]["text"] == "Deploys use [REDACTED:github_token] at night"
    assert rescanned(running)["spaces.Memory"]["rows"] == 0
    assert not (running.data_dir / "rescan.json").exists()
    assert "secrets.cut" in running.run("manage", "shell", "-c", _EVENTS).stdout


def test_it_goes_on_where_it_was_ended_unless_told_otherwise(running: Hub) -> None:
    """As a run leaves it that was killed behind the memories."""
    account = running.first_run["account_id"].removeprefix("acc_")
    _stored_long_ago(running, f"Deploys still use {SECRET} at night")
    last = "ffffffff-ffff-7fff-bfff-ffffffffffff"
    (running.data_dir / "rescan.json").write_text(json.dumps({account: f"spaces.MemoryVersion {last}"}))
    assert "spaces.Memory" not in rescanned(running)
    assert rescanned(running, "--anew")["spaces.Memory"]["rows"] == 1


_EVENTS = (
    "from accounts.domain.accounts import only_account; from memoryhub.common.tenancy import tenant\n"
    "from accounts.models import Event\n"
    "with tenant(only_account().id): print(set(Event.objects.values_list('type', flat=True)))"
)


_STORE = """
import sys, psycopg
sockets, text = sys.argv[1:]
with psycopg.connect(f"host={sockets} user=hub_owner dbname=memoryhub") as connection:
    connection.execute("update spaces_memory set text = %s where text like 'Deploys%%'", [text])
"""


def _stored_long_ago(running: Hub, text: str) -> None:
    """By whoever runs the hub: its PostgreSQL lets nobody else in, not even root."""
    store = running.person.command("-c", _STORE, str(running.data_dir / "postgres/run"), text)
    done = subprocess.run(**store, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
