from __future__ import annotations

import json
import socket
import stat

import httpx2 as httpx
import pytest

from tests.running_e2e.harness import SERVED, Hub, Person, hub


def test_the_first_run_says_how_to_begin_and_keeps_it_for_its_owner_alone(running: Hub) -> None:
    first = running.first_run
    assert set(first) == {"url", "mcp_url", "owner_url", "account_id", "space_id", "agent_key"}
    assert stat.S_IMODE((running.data_dir / "first-run.json").stat().st_mode) == 0o600
    assert (first["url"], first["mcp_url"]) == (running.url, f"{running.url}/mcp")
    for shown in (
        first["owner_url"],
        first["agent_key"],
        f"claude mcp add --transport http memory-hub {running.url}/mcp",
    ):
        assert shown in running.said
    assert httpx.get(first["owner_url"]).status_code == 200
    assert httpx.get(f"{running.url}/healthz").status_code == 200


def test_the_first_key_may_do_what_an_agent_does_and_forget(running: Hub) -> None:
    first = json.loads(running.run("key", "list", "--json").stdout)["keys"][-1]
    assert first["name"] == "First agent"
    assert {"memory:write", "memory:delete", "actions:propose"} <= set(first["scopes"])
    assert not {"space:admin", "export:read"} & set(first["scopes"])


def test_a_second_run_keeps_the_first_and_shows_no_secret_again(running: Hub) -> None:
    first = running.first_run
    running.press_ctrl_c()
    running.start()
    assert running.first_run == first
    assert first["agent_key"] not in running.said
    assert SERVED in running.said
    answer = httpx.get(f"{running.url}/v1/whoami", headers={"X-API-Key": first["agent_key"]})
    assert answer.status_code != 401


def test_a_second_up_on_the_same_data_says_so(running: Hub) -> None:
    second = running.run("up", "--port", "0")
    assert second.returncode == 1
    assert f"Memory Hub is running already at {running.url} (process {running.process.pid})" in second.stderr


def test_a_port_in_use_is_named_and_nothing_is_left_running(owner: Person) -> None:
    with hub(owner, "other") as made, socket.socket() as other:
        other.bind(("127.0.0.1", made.port))
        other.listen()
        refused = made.run("up", "--port", str(made.port))
        assert refused.returncode == 1
        assert f"Port {made.port} on 127.0.0.1 is taken by another program" in refused.stderr
        assert made.processes() == []


def test_the_commands_work_while_it_runs_and_while_it_does_not(running: Hub) -> None:
    for serving in (True, False):
        made = json.loads(running.run("key", "create", "--preset", "reader", "--json").stdout)
        if serving:
            answer = httpx.get(f"{running.url}/v1/actions", headers={"X-API-Key": made["key"]})
            assert answer.status_code == 403, "the key is known; reading actions needs a scope of its own"
        revoked = json.loads(running.run("key", "revoke", made["id"], "--json").stdout)
        assert revoked["state"] == "revoked"
        space = json.loads(running.run("space", "create", "--name", f"Team {serving}", "--json").stdout)
        assert space["slug"] == f"team-{serving}".lower()
        invited = json.loads(running.run("member", "add", "--role", "approver", "--json").stdout)
        assert invited["url"].startswith(f"{running.url}/welcome/")
        checks = {
            check["check"]: check["level"] for check in json.loads(running.run("doctor", "--json").stdout)
        }
        assert set(checks.values()) <= {"good", "note"}
        assert ("Worker" in checks) is serving
        if serving:
            running.press_ctrl_c()
    assert running.processes() == []


@pytest.mark.parametrize("command", [["key", "list"], ["doctor"]])
def test_commands_before_the_first_run_explain_themselves(owner: Person, command: list[str]) -> None:
    with hub(owner, "nothing") as made:
        answer = made.run(*command)
        assert "memoryhub up" in answer.stdout + answer.stderr
        assert "Traceback" not in answer.stderr
        assert not made.data_dir.exists()
