"""REST as agents reach it: the whole ASGI application, without the way through Django's pages."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoryhub.rest.app import operation_at
from tests.conftest import Cast, make_key
from tests.inprocess import InProcess, in_process

__all__ = ["in_process"]


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/v1/memories", True),
        ("/v1/nothing/here", True),
        ("/v1/events", False),
        ("/v1/openapi.json", False),
        ("/healthz", False),
    ],
)
def test_operations_have_a_way_of_their_own(path: str, served: bool) -> None:
    assert (operation_at({"path": path}) is not None) is served


@pytest.mark.django_db
def test_refusals_and_unknown_addresses_have_the_usual_form(in_process: InProcess) -> None:
    refused = in_process.request("GET", "/v1/memories")
    unknown = in_process.request("GET", "/v1/nothing/here", headers={"authorization": "Bearer x"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthorized")
    assert refused.headers["www-authenticate"].startswith("Bearer ")
    assert unknown.json()["error"]["code"] == "unauthorized"


@pytest.mark.django_db
def test_answers_carry_what_protects_a_browser_and_no_cookie(in_process: InProcess) -> None:
    headers: Any = in_process.request("GET", "/v1/memories").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src" in headers["content-security-policy"]
    assert "set-cookie" not in headers
    assert headers["content-type"] == "application/json"


@pytest.mark.django_db
def test_a_host_that_is_not_ours_is_refused(in_process: InProcess) -> None:
    assert in_process.request("GET", "/v1/memories", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/import"])
def test_a_body_without_a_length_is_refused_once_it_is_too_large(
    cast: Cast, in_process: InProcess, settings: Any, path: str
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _piece in range(40):
            yield b"[" * 65536

    settings.IMPORT_BYTES = settings.BODY_LIMIT
    _, key = make_key(cast.owner, cast.space)
    answer = in_process.request("POST", path, content=endless(), headers={"authorization": f"Bearer {key}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")
