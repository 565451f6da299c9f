"""Pages from listed origins may call what clients call. No other page may, and of the rest of the hub none."""

import pytest

from tests.inprocess import InProcess

pytestmark = pytest.mark.django_db

OURS, ANOTHER = "http://testserver", "https://evil.example"
OPEN = [
    "/mcp",
    "/mcp/hub",
    "/oauth/token",
    "/oauth/register",
    "/oauth/revoke",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/oauth-protected-resource/mcp",
]


def preflight(app: InProcess, path: str, origin: str) -> tuple[int, str | None]:
    asked = {"origin": origin, "access-control-request-method": "POST"}
    answer = app.request("OPTIONS", path, headers=asked)
    return answer.status_code, answer.headers.get("access-control-allow-origin")


@pytest.mark.parametrize("path", OPEN)
def test_a_listed_origin_is_let_through_and_another_is_not(in_process: InProcess, path: str) -> None:
    assert preflight(in_process, path, OURS) == (204, OURS)
    for origin in (ANOTHER, "null", f"{OURS}.evil.example", f"{OURS}:81"):
        assert preflight(in_process, path, origin) == (204, None)


def test_a_page_reads_the_answer_and_what_it_says_of_the_way_in(in_process: InProcess) -> None:
    answer = in_process.request("POST", "/mcp", json={}, headers={"origin": OURS})
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == OURS
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/register"])
def test_the_answer_to_another_origin_is_not_for_its_page(in_process: InProcess, path: str) -> None:
    answer = in_process.request("POST", path, content=b"", headers={"origin": ANOTHER})
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers
    assert "Origin" in answer.headers["vary"].split(", ")


@pytest.mark.parametrize("path", ["/", "/oauth/authorize", "/v1/memories", "/accounts/login/", "/mcphub"])
def test_the_rest_of_the_hub_is_for_no_other_page(in_process: InProcess, path: str) -> None:
    asked = {"origin": OURS, "access-control-request-method": "POST"}
    answer = in_process.request("OPTIONS", path, headers=asked)
    assert "access-control-allow-origin" not in answer.headers
