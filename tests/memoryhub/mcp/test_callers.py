"""Who may call: the same answer on both wires, whatever is sent."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.utils import timezone

from accounts.domain.keys import hash_secret, revoke_key
from accounts.models import AgentKey, Membership
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.mcp.callers import Caller
from memoryhub.mcp.refusals import Refused
from memoryhub.operations.scopes import first_scopes_at
from tests.conftest import Cast, make_key
from tests.memoryhub.mcp.conftest import META, NEWER, OLDER, Agent

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {}}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
EVERY_WAY: list[tuple[Any, dict[str, str]]] = [
    (CALL, {"mcp_protocol_version": OLDER}),
    (LIST, {"mcp_protocol_version": OLDER}),
    ([CALL], {}),
    ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}),
    ({**CALL, "params": {"name": 5}}, {}),
    ({**CALL, "id": None}, {}),
    ({**LIST, "params": {"_meta": META}}, {"mcp_protocol_version": NEWER, "mcp_method": "tools/list"}),
    ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"mcp_protocol_version": NEWER}),
]


@pytest.fixture
def agent(live_hub: str, cast: Cast) -> Iterator[Agent]:
    _, secret = make_key(cast.teammate, cast.space)
    with httpx2.Client(base_url=live_hub, timeout=20) as http:
        yield Agent(http, secret)


def told_at(hub: str, place: str) -> str:
    """What to ask for, and of whom."""
    scopes = " ".join(first_scopes_at(place))
    return f'scope="{scopes}", resource_metadata="{hub}/.well-known/oauth-protected-resource{place}"'


def key_of(agent: Agent) -> AgentKey:
    return AgentKey.objects.get(secret_hash=hash_secret(agent.secret))


def is_refused(agent: Agent) -> bool:
    statuses = {agent.post(message, **headers).status_code for message, headers in EVERY_WAY}
    assert statuses == {401} or 401 not in statuses
    return statuses == {401}


def test_without_a_credential_every_way_ends_in_a_challenge(agent: Agent, live_hub: str) -> None:
    where = told_at(live_hub, "/mcp")
    for message, headers in EVERY_WAY:
        answer = agent.post(message, authorization="", **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] in (
            f"Bearer {where}",
            f'Bearer error="invalid_token", {where}',
        )


def test_the_challenge_says_invalid_token_only_when_one_was_sent(agent: Agent, live_hub: str) -> None:
    where = told_at(live_hub, "/mcp/hub")
    headers = {"content-type": "application/json"}
    bare = agent.http.post("/mcp/hub", json=LIST, headers=headers)
    assert bare.headers["www-authenticate"] == f"Bearer {where}"
    for sent in (
        {"authorization": "Bearer mh_live_x"},
        {"x-api-key": "nonsense"},
        {"authorization": "Basic eDp5"},
    ):
        answer = agent.http.post("/mcp/hub/", json=LIST, headers=headers | sent)
        assert answer.headers["www-authenticate"] == f'Bearer error="invalid_token", {where}'


def test_a_key_is_taken_as_bearer_and_as_api_key(agent: Agent) -> None:
    assert agent.ask("tools/list", authorization=f"bearer {agent.secret}")["result"]["tools"]
    assert agent.ask("tools/list", authorization="", x_api_key=agent.secret)["result"]["tools"]


def test_a_revoked_key_is_out_at_its_next_request(agent: Agent, cast: Cast) -> None:
    assert not is_refused(agent)
    with tenant(cast.account.id):
        revoke_key(cast.owner, typed_id("key", key_of(agent).id))
    assert is_refused(agent)


def test_the_key_of_a_removed_member_is_out_at_its_next_request(agent: Agent, cast: Cast) -> None:
    assert not is_refused(agent)
    Membership.objects.filter(user_id=cast.teammate.user_id).delete()
    assert is_refused(agent)


def test_an_expired_key_is_out(agent: Agent) -> None:
    AgentKey.objects.filter(id=key_of(agent).id).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert is_refused(agent)


def test_a_key_for_other_addresses_is_out(agent: Agent) -> None:
    AgentKey.objects.filter(id=key_of(agent).id).update(addresses=["192.0.2.7"])
    assert is_refused(agent)
    AgentKey.objects.filter(id=key_of(agent).id).update(addresses=["192.0.2.7", "127.0.0.1"])
    assert not is_refused(agent)


def test_what_a_client_says_of_itself_is_attribution(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    headers = {
        "x-api-key": secret,
        "mcp-session-id": "s-1",
        "user-agent": "tests/1",
        "x-memory-hub-agent-id": "coder",
        "x-memory-hub-space": "main",
    }
    actor = Caller(headers, ("192.0.2.7", 5), "/mcp").actor
    said = actor.attribution
    assert (said.session, said.client, said.agent) == ("s-1", "tests/1", "coder")
    assert (actor.space_ref, actor.address) == ("main", "192.0.2.7")


def test_a_caller_is_looked_up_once(cast: Cast, django_assert_num_queries: Any) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    caller = Caller({"x-api-key": secret}, None, "/mcp")
    assert caller.actor.address == ""
    with django_assert_num_queries(0):
        assert caller.actor.account_id == cast.account.id


def test_an_unknown_caller_is_refused_each_time(db: None) -> None:
    caller = Caller({}, None, "/mcp")
    for _ in range(2):
        with pytest.raises(Refused):
            caller.actor  # noqa: B018
