"""A client that was let in with too little is told what more to ask its person for."""

import json
from typing import Any

import httpx2
import pytest

from accounts.domain.grants import revoke_grant
from accounts.models import Grant
from accounts.scopes import Scope
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast, make_key
from tests.inprocess import InProcess
from tests.memoryhub.mcp.conftest import META, NEWER, OLDER
from tests.oauth import HERE, connect
from tests.wire import as_request

FORGET = {"query": "nothing like it", "dry_run": True}


@pytest.fixture
def hub(transactional_db: None, in_process: InProcess) -> InProcess:
    return in_process


def called(hub: InProcess, secret: str, name: str, arguments: dict[str, Any], wire: str) -> httpx2.Response:
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    if wire == "rest":
        method, path, body = as_request(name, arguments)
        return hub.request(method, path, content=body, headers=headers)
    newer = {"mcp-method": "tools/call", "mcp-name": name} if wire == NEWER else {}
    params = {"name": name, "arguments": arguments, **({"_meta": META} if newer else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers |= {"mcp-protocol-version": wire, **newer}
    return hub.request("POST", "/mcp", content=json.dumps(message).encode(), headers=headers)


@pytest.mark.parametrize(("wire", "place"), [(OLDER, "/mcp"), (NEWER, "/mcp"), ("rest", "/v1")])
def test_all_that_is_needed_is_asked_for_at_once(hub: InProcess, cast: Cast, wire: str, place: str) -> None:
    scopes = "memory:read memory:write space:read"
    secret = connect(cast.teammate, cast.space.id, resource=HERE, scope=scopes)["access_token"]
    refused = called(hub, secret, "forget", FORGET, wire)
    assert refused.status_code == 403
    assert refused.headers["www-authenticate"] == (
        f'Bearer error="insufficient_scope", scope="memory:delete {scopes}",'
        f' resource_metadata="{HERE}/.well-known/oauth-protected-resource{place}"'
    )
    assert "memory:delete" in refused.text
    assert called(hub, secret, "recall", {}, wire).status_code == 200


@pytest.mark.parametrize("wire", [OLDER, NEWER, "rest"])
def test_a_key_can_not_ask_for_more_and_is_only_refused(hub: InProcess, cast: Cast, wire: str) -> None:
    _, secret = make_key(cast.teammate, cast.space, scopes=["memory:read"])
    refused = called(hub, secret, "forget", FORGET, wire)
    assert refused.status_code == (403 if wire == "rest" else 200)
    assert "www-authenticate" not in refused.headers


@pytest.mark.parametrize("wire", [OLDER, NEWER, "rest"])
def test_a_client_is_out_at_its_next_request(hub: InProcess, cast: Cast, wire: str) -> None:
    secret = connect(cast.teammate, cast.space.id, resource=HERE)["access_token"]
    assert called(hub, secret, "recall", {}, wire).status_code == 200
    with tenant(cast.account.id):
        revoke_grant(cast.owner, str(Grant.objects.get().id))
    assert called(hub, secret, "recall", {}, wire).status_code == 401


def test_a_client_proposes_and_never_approves(hub: InProcess, cast: Cast) -> None:
    """Whatever scopes it has, and although its person might."""
    every = " ".join(Scope)
    secret = connect(cast.owner, cast.space.id, resource=HERE, scope=every)["access_token"]
    proposal = {"class": "mail.send", "summary": "s", "payload": {}, "idempotency_key": "k"}
    action = called(hub, secret, "action_propose", proposal, "rest").json()["action"]
    for to in ("approved", "executing", "done"):
        move = {"id": action["id"], "from": "pending", "to": to}
        assert called(hub, secret, "action_transition", move, "rest").status_code in (403, 409)


def test_a_client_says_who_it_is(hub: InProcess, cast: Cast) -> None:
    secret = connect(cast.teammate, cast.space.id, resource=HERE)["access_token"]
    said = called(hub, secret, "whoami", {}, "rest").json()
    assert said["credential"] == {
        "kind": "grant",
        "id": f"grt_{Grant.objects.get().id.hex}",
        "name": "Visitor",
        "profile": "generic",
    }
    assert said["scopes"] == ["memory:read", "memory:write"]
