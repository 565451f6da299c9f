"""Whatever is sent to a running hub: no log, no file of the queue and no output of any process has a secret of it, a
link that lets somebody in, or a word of what was stored; and what was forgotten is in none of them, nor in a dump."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import httpx2 as httpx
import psutil
import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from memoryhub.common.secrets.shapes import expand
from memoryhub.running.binaries import find_binaries
from memoryhub.running.instance import Instance
from tests.running_e2e.harness import PEOPLE, ROOT, Hub, free_port, hub, person_named, until

DRAW = Random(23)
SECRET = expand("ghp_{crc:30}", DRAW)
PASSWORD = "Tr0ub4dor&3xkcd9"
TOKEN = "kq0Zt5m1d8vXWcYh3nRb7sLpEoGuJfAi"
CODE = "Qm7dPz2LxW4vKc9TfR1nHs6JyB3gEa8U"
STRANGER = "mh_live_" + "Zq8Kw3Nf7Lp2Rt6Vx9Bc4Dm1Gj5Hs0" + "Yt2Uw8"
STORED = "heliotropezebra"
KEPT_APART = {"first-run.json", "secrets.json"}
"""What `up` writes for its owner alone."""


@pytest.fixture(scope="module")
def instance(place: Path) -> Iterator[Hub]:
    """With everything said that can be. The second start shows no first-run secrets."""
    loud = {"LOG_LEVEL": "DEBUG", "WORKER_THREADS": "2"}
    with person_named(PEOPLE[0], place) as owner, hub(replace(owner, variables=loud)) as made:
        made.start()
        made.press_ctrl_c()
        made.start()
        until(made.ready, "readiness")
        yield made


@dataclass
class Sender:
    """Plants everything in every place that takes something."""

    url: str
    key: str
    answers: list[int] = field(default_factory=list)

    def everything(self) -> None:
        for credential in (f"Bearer {self.key}", f"Bearer {STRANGER}", f"Basic {SECRET}"):
            with httpx.Client(base_url=self.url, headers={"Authorization": credential}, timeout=30) as client:
                self._rest(client)
                self._mcp(client)
        with httpx.Client(base_url=self.url, timeout=30) as client:
            self._pages(client)
        self._socket()

    def _rest(self, client: httpx.Client) -> None:
        said = f"{STORED} uses {SECRET}; the password is {PASSWORD}"
        for text in (said, STORED, SECRET):
            self._note(client.post("/v1/memories", json={"text": text, "metadata": {text: text}}))
            self._note(client.put(f"/v1/kv/prefs/{text}", json={"value": text}))
            self._note(client.get(f"/v1/kv/prefs/{text}"))
            self._note(client.get("/v1/memories", params={"q": text, text: text}))
            self._note(client.post("/v1/import", params={"name": text}, content=text.encode()))
            self._note(client.post("/v1/memories", content=f'{{"text": "{text}'.encode()))
            self._note(
                client.post("/v1/memories", json={"text": text}, headers={"X-Memory-Hub-Agent-Id": SECRET})
            )
            proposal = {
                "class": "mail.send",
                "summary": text,
                "payload": {"to": text},
                "idempotency_key": text,
            }
            self._note(client.post("/v1/actions", json=proposal))
            self._note(client.request(text[:12].strip().upper().replace(" ", "-"), f"/v1/{text}"))

    def _mcp(self, client: httpx.Client) -> None:
        call = {"name": "remember", "arguments": {"text": f"{STORED} {SECRET}", SECRET: PASSWORD}}
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            {"jsonrpc": "2.0", "id": SECRET, "method": STORED, "params": {"password": PASSWORD}},
        ):
            accept = {"Accept": "application/json, text/event-stream"}
            self._note(client.post("/mcp", json=message, headers=accept))
            self._note(client.post(f"/mcp/{SECRET}", json=message, headers=accept))

    def _pages(self, client: httpx.Client) -> None:
        for path in (
            f"/welcome/{TOKEN}/",
            f"/accounts/password/reset/key/1-{TOKEN}/",
            f"/accounts/confirm-email/{TOKEN}/",
            f"/a/acme/main/data/{TOKEN}/download/",
            f"/oauth/authorize/?client_id={CODE}&state={CODE}&code_challenge={CODE}",
            f"/callback?code={CODE}&state={CODE}",
            f"/{STORED}/{SECRET}?password={PASSWORD}",
            f"/a/{SECRET}/?q={STORED}",
        ):
            self._note(client.get(path))
            self._note(client.post(path, data={"email": f"{STORED}@acme.example", "password": PASSWORD}))
        self._note(client.post("/oauth/token", data={"grant_type": "authorization_code", "code": CODE}))
        self._note(
            client.post("/oauth/token", data={"grant_type": "refresh_token", "refresh_token": f"mhr_{TOKEN}"})
        )
        self._note(
            client.post(
                "/oauth/register", json={"client_name": SECRET, "redirect_uris": [f"https://x/{SECRET}"]}
            )
        )
        self._note(client.post("/accounts/login/", data={"login": STORED, "password": PASSWORD}))

    def _socket(self) -> None:
        with suppress(WebSocketException, OSError):
            connect(f"{self.url.replace('http', 'ws')}/ws/a/{SECRET}/?token={TOKEN}").close()

    def _note(self, answer: httpx.Response) -> None:
        self.answers.append(answer.status_code)


def files_of(instance: Hub) -> dict[str, str]:
    """Everything on the disk beside the database's own files: logs, the queue, checkpoints, what `up` said."""
    found = [path for path in instance.data_dir.rglob("*") if path.is_file() and path.name not in KEPT_APART]
    kept = [path for path in found if "postgres/data" not in str(path) and "programs" not in str(path)]
    kept = [path for path in kept if instance.data_dir / "models" not in path.parents]
    said = [instance.person.home / f"{instance.name}.log"]
    return {str(path): path.read_text(errors="replace") for path in (*kept, *said)}


def leaks(instance: Hub, *planted: str) -> list[str]:
    return [
        f"{path}: {line.strip()[:200]}"
        for path, text in files_of(instance).items()
        for line in text.splitlines()
        if any(word in line for word in planted)
    ]


@contextmanager
def standing_still(instance: Hub, name: str) -> Iterator[None]:
    """What is put into the queue meanwhile stays there."""
    process = psutil.Process(instance.pid(name))
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def test_nothing_that_is_sent_is_in_any_log_or_file_of_the_queue(running: Hub) -> None:
    sender = Sender(running.url, running.first_run["agent_key"])
    with standing_still(running, "worker"):
        sender.everything()
        assert list((running.data_dir / "broker").glob("*.msg")), (
            "the queue was looked at with something in it"
        )
        assert leaks(running, SECRET, PASSWORD, TOKEN, CODE, STRANGER, STORED, sender.key) == []
    until(lambda: not list((running.data_dir / "broker").glob("*.msg")), "the queue to be worked off")
    assert leaks(running, SECRET, PASSWORD, TOKEN, CODE, STRANGER, STORED, sender.key) == []
    assert {200, 201, 401, 404} <= set(sender.answers)
    assert 500 not in sender.answers
    assert "DEBUG" in running.said, "nothing was said that could have held it"
    print(
        f"{len(sender.answers)} requests with planted texts, {len(running.said.splitlines())} lines: none has any"
    )


def test_nor_is_it_in_the_lines_of_a_server_that_logs_every_request(running: Hub) -> None:
    """As it is started by hand: with the server's own loggers, handlers and formatters."""
    log = running.person.home / "alone.log"
    with alone(running, log) as url:
        sender = Sender(url, running.first_run["agent_key"])
        sender.everything()
    said = log.read_text()
    assert said.count('HTTP/1.1"') > len(sender.answers) / 2
    assert "GET /welcome/…/" in said
    found = [line for line in said.splitlines() if any(
        word in line for word in (SECRET, PASSWORD, TOKEN, CODE, STRANGER, sender.key)
    )]  # fmt: skip
    assert found == []


@contextmanager
def alone(instance: Hub, log: Path) -> Iterator[str]:
    port = free_port()
    environ = {
        **os.environ,
        **Instance(instance.data_dir).environment({}),
        "PYTHONPATH": str(ROOT),
        "LOG_LEVEL": "DEBUG",
    }
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "memoryhub.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "debug",
    ]
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environ, stdout=output, stderr=output)
        try:
            until(lambda: _answers(f"http://localhost:{port}/healthz"), "the server")
            yield f"http://localhost:{port}"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_process_that_fails_tells_nothing_either(running: Hub) -> None:
    """Its exception has a secret in its message, and a stored word in a value of its frames."""
    script = (
        "from memoryhub.common.logs import be_careful; be_careful()\n"
        f"def fail(word={STORED!r}): raise ValueError('{SECRET} ' + word)\n"
        "import threading; t = threading.Thread(target=fail); t.start(); t.join(); fail()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == 1
    assert ended.stderr.count("builtins.ValueError") == 2
    assert SECRET not in ended.stderr
    assert STORED not in ended.stderr


def test_what_was_forgotten_is_in_no_dump_no_log_and_no_file_of_the_queue(running: Hub) -> None:
    word = "periwinklewalrus"
    headers = {"Authorization": f"Bearer {running.first_run['agent_key']}"}
    with httpx.Client(base_url=running.url, headers=headers, timeout=30) as client:
        for text in (f"Ann met {word} at noon", f"{word} prefers tea"):
            client.post("/v1/memories", json={"text": text, "tags": [word]}).raise_for_status()
        client.put("/v1/journal/2026-03-02", json={"summary": f"A day with {word}"}).raise_for_status()
        client.post("/v1/collections/leads/records", json={"data": {"who": word}}).raise_for_status()
        client.get("/v1/memories", params={"q": word}).raise_for_status()
        assert word in dumped(running)
        asked = {"query": word, "scopes": ["memories", "journal", "records"]}
        client.post("/v1/forget", json=asked).raise_for_status()
        alike = client.get("/v1/memories", params={"q": word}).raise_for_status().json()["items"]
        assert word not in json.dumps(alike), "what other tests stored may be near it in meaning"
    assert word not in dumped(running)
    assert leaks(running, word) == []


def dumped(instance: Hub) -> str:
    """Every row of every table, as the owner of the database sees it."""
    command = [str(find_binaries().program("pg_dump")), "--data-only", "--inserts", "--enable-row-security"]
    place = ["--host", str(instance.data_dir / "postgres/run"), "--username", "hub_owner", "memoryhub"]
    return subprocess.run([*command, *place], capture_output=True, text=True, check=True).stdout


def test_what_is_looked_through_would_have_it(running: Hub) -> None:
    """So that the tests above can fail."""
    (running.data_dir / "broker" / ".looked").write_text(json.dumps({"args": [SECRET]}))
    assert leaks(running, SECRET)
    (running.data_dir / "broker" / ".looked").unlink()
