"""The official conformance suite against the endpoint, on both wires."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.clients.node import OFFICIAL, run_node
from tests.conftest import Cast, make_key
from tests.live import running_server

pytestmark = pytest.mark.clients

FOLDER = re.compile(r"server-(.+)-20\d\d-\d\d-\d\dT.+")
SUITE = OFFICIAL / "conformance" / "dist" / "index.js"
EXPECTED = yaml.safe_load(Path(__file__).with_name("expected-failures.yml").read_text())["server"]


def outcomes(version: str, secret: str, folder: Path) -> dict[str, Counter[str]]:
    """How often each scenario's checks ended in each status."""
    application = "tests.conformance.asgi:application"
    with running_server(application, CONFORMANCE_KEY=secret) as url:
        wanted = ["--url", f"{url}/mcp/conformance", "--suite", "all", "--spec-version", version]
        run_node(SUITE, "server", *wanted, "-o", str(folder))
    return {scenario(path): statuses(path) for path in folder.glob("*/checks.json")}


def scenario(path: Path) -> str:
    """Results are in server-<scenario>-<time>."""
    found = FOLDER.fullmatch(path.parent.name)
    assert found
    return found[1]


def statuses(path: Path) -> Counter[str]:
    return Counter(check["status"] for check in json.loads(path.read_text()))


@pytest.mark.parametrize(
    ("version", "failing", "least"),
    [("2025-11-25", EXPECTED, 61), ("2026-07-28", [], 147)],
)
def test_only_what_needs_a_session_fails(
    transactional_db: None, cast: Cast, tmp_path: Path, version: str, failing: list[str], least: int
) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    found = outcomes(version, secret, tmp_path)
    assert sorted(name for name, counts in found.items() if counts["FAILURE"]) == sorted(failing)
    assert sum(counts["SUCCESS"] for counts in found.values()) >= least
