"""What is answered before a message is read, over real sockets."""

import gzip
import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.memoryhub.mcp.conftest import OLDER, Agent

pytestmark = pytest.mark.django_db

PING = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 0, "result": {}}
LIMIT = 1024 * 1024


@pytest.mark.parametrize(
    "accept", ["application/json", "*/*", "text/event-stream", "application/*;q=0.5", "text/html", ""]
)
def test_json_is_served_whatever_is_accepted(agent: Agent, accept: str) -> None:
    answer = agent.post(PING, accept=accept)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == PONG


def test_the_newer_wire_serves_json_whatever_is_accepted(agent: Agent) -> None:
    for accept in ("application/json", "*/*", "text/event-stream", ""):
        answer = agent.ask_newer("server/discover", {}, accept=accept)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
def test_only_post_is_allowed(agent: Agent, method: str) -> None:
    answer = agent.http.request(method, "/mcp")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_slash_at_the_end_is_no_redirect(agent: Agent) -> None:
    assert agent.post(PING, "/mcp/").json() == PONG


@pytest.mark.parametrize("path", ["/mcp/nothing", "/mcp/hub/more", "/mcp/ledger"])
def test_an_unknown_path_is_not_found(agent: Agent, path: str) -> None:
    answer = agent.post(PING, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1@evil.example"])
def test_a_foreign_host_is_misdirected(agent: Agent, host: str) -> None:
    assert agent.post(PING, host=host).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://localhost"])
def test_a_foreign_origin_is_forbidden(agent: Agent, origin: str) -> None:
    answer = agent.post(PING, origin=origin)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


def test_our_own_origin_is_served(agent: Agent, live_process: str) -> None:
    assert agent.post(PING, origin=live_process).json() == PONG


@pytest.mark.parametrize("form", ["text/plain", "application/x-www-form-urlencoded", "application/jsonl", ""])
def test_another_content_type_is_unsupported(agent: Agent, form: str) -> None:
    assert agent.post(PING, content_type=form).status_code == 415


def test_a_charset_is_no_other_content_type(agent: Agent) -> None:
    assert agent.post(PING, content_type="Application/JSON; charset=UTF-8").json() == PONG


def test_a_compressed_body_is_refused_with_what_to_send(agent: Agent) -> None:
    answer = agent.post(gzip.compress(json.dumps(PING).encode()), content_encoding="gzip")
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")


def padded(size: int) -> bytes:
    body = json.dumps(PING).encode()
    return body + b" " * (size - len(body))


def test_a_body_may_be_as_long_as_the_limit(agent: Agent) -> None:
    assert agent.post(padded(LIMIT)).json() == PONG
    answer = agent.post(padded(LIMIT + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")


def test_a_chunked_body_is_held_to_the_same_limit(agent: Agent, live_process: str) -> None:
    assert chunked(live_process, agent.secret, in_pieces(padded(LIMIT))) == 200
    assert chunked(live_process, agent.secret, in_pieces(padded(LIMIT + 1))) == 413


def in_pieces(body: bytes, size: int = 65_536) -> Iterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def chunked(url: str, secret: str, pieces: Iterator[bytes]) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    headers = {"content-type": "application/json", "x-api-key": secret}
    try:
        connection.request("POST", "/mcp", pieces, headers, encode_chunked=True)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("version", ["bogus", "2099-01-01", "1.0"])
def test_a_bogus_version_is_refused(agent: Agent, version: str) -> None:
    assert agent.post(PING, mcp_protocol_version=version).status_code == 400


def test_malformed_json_is_a_parse_error_on_both_wires(agent: Agent) -> None:
    for version in (OLDER, "2026-07-28"):
        answer = agent.post("{", mcp_protocol_version=version)
        assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (
            400,
            None,
            -32700,
        )


def test_deep_nesting_is_refused_on_both_wires(agent: Agent) -> None:
    for version in (OLDER, "2026-07-28"):
        body = '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * 2000 + "1" + "}" * 2001
        assert agent.post(body, mcp_protocol_version=version).status_code == 400
