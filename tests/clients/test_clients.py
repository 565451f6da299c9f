"""The official clients list and call tools of a real server, each in its own words."""

import json
import tempfile
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from memoryhub.mcp.instructions import INSTRUCTIONS
from memoryhub.operations.base import REGISTRY
from tests.clients.node import HERE, OFFICIAL, run_node
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.clients

INSPECTOR = OFFICIAL / "inspector" / "clients" / "launcher" / "build" / "index.js"
VALUE = {"a": [1, "ü"]}


@pytest.fixture
def key(cast: Cast) -> str:
    _, secret = make_key(cast.teammate, cast.space)
    return secret


def tool_names() -> list[str]:
    return list(dict.fromkeys(operation.name for operation in REGISTRY.tools()))


async def journey(url: str, key: str, mode: Any) -> dict[str, Any]:
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=20) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = await client.list_tools()
            written = await client.call_tool("kv_set", {"ns": "journey", "key": "k", "value": VALUE})
            read = await client.call_tool("kv_get", {"ns": "journey", "key": "k"})
            refused = await client.call_tool("recall", {"limit": 1000})
            return {
                "version": client.protocol_version,
                "instructions": client.instructions,
                "tools": [tool.name for tool in tools.tools],
                "written": written.structured_content,
                "read": read.structured_content,
                "refused": refused,
            }


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_python_client_lists_and_calls_tools(live_hub: str, key: str, mode: str, version: str) -> None:
    report = anyio.run(journey, f"{live_hub}/mcp", key, mode)
    assert (report["version"], report["instructions"]) == (version, INSTRUCTIONS)
    assert report["tools"] == tool_names()
    assert report["written"]["created"] is True
    assert report["read"]["value"] == VALUE
    assert report["refused"].is_error
    (block,) = report["refused"].content
    assert isinstance(block, TextContent)
    assert json.loads(block.text)["error"]["code"] == "validation_failed"


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
@pytest.mark.parametrize(
    ("flavour", "version"), [("v1", "2025-11-25"), ("v2", "2025-11-25"), ("v2-auto", "2026-07-28")]
)
def test_the_typescript_clients_list_and_call_tools(
    live_hub: str, key: str, flavour: str, version: str, header: str
) -> None:
    done = run_node(HERE / "journey.mjs", flavour, f"{live_hub}/mcp", KEY=key, HEADER=header)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["version"], report["server"]) == (version, "memory-hub")
    assert report["instructions"] == INSTRUCTIONS
    assert report["tools"] == tool_names()
    assert report["written"]["created"] is True
    assert report["read"]["value"] == VALUE
    assert json.loads(report["text"][0]["text"]) == report["read"]
    assert report["refused"]["isError"] is True
    assert json.loads(report["refused"]["content"][0]["text"])["error"]["code"] == "validation_failed"


def inspect(url: str, key: str, home: str, *wanted: str) -> Any:
    """What the inspector's command line prints for one request."""
    asked = [url, "--transport", "http", "--header", f"Authorization: Bearer {key}", *wanted]
    done = run_node(INSPECTOR, "--cli", *asked, HOME=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_tools(live_hub: str, key: str) -> None:
    with tempfile.TemporaryDirectory() as home:
        tools = inspect(f"{live_hub}/mcp", key, home, "--method", "tools/list")
        assert [tool["name"] for tool in tools["tools"]] == tool_names()
        call = ["--method", "tools/call", "--tool-name"]
        words = ["--tool-arg", "ns=journey", "--tool-arg", "key=k"]
        written = inspect(f"{live_hub}/mcp", key, home, *call, "kv_set", *words, "--tool-arg", "value=text")
        assert written["structuredContent"]["created"] is True
        read = inspect(f"{live_hub}/mcp", key, home, *call, "kv_get", *words)
        assert read["structuredContent"]["value"] == "text"
