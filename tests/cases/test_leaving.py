"""Whoever leaves, or may less than before, feels it at the next request; what they wrote stays."""

import httpx2
import pytest

from accounts.models import Membership
from accounts.scopes import Role
from tests.cases.hub import Agent, Browser, Hub
from tests.cases.stage import address, approved, move, proposed, status
from tests.inprocess import apart


def change_role(hub: Hub, person: str, role: Role | None) -> None:
    """None removes them."""
    memberships = Membership.objects.filter(account=hub.account, user_id=hub.people[person].user_id)
    apart(lambda: memberships.update(role=role) if role else memberships.delete())


def test_a_removed_member_loses_key_pages_and_sessions_at_the_next_request(agent: Agent, hub: Hub) -> None:
    agent("remember", text="Ann likes tea")
    action, browser = proposed(agent), Browser(hub, "member")
    assert browser.get(f"{hub.place}/inbox/").status_code == 200
    change_role(hub, "member", None)
    assert over_both_ways(agent) == [401, 401]
    assert browser.get(f"{hub.place}/inbox/").status_code == 404
    assert (
        browser.post(f"{hub.place}/records/new/", collection="c", status="open", content="{}").status_code
        == 404
    )
    remaining = agent.having(secret=hub.key("admin"))
    assert remaining("recall", q="tea")["count"] == 1
    assert status(remaining, action) == "pending"


def test_a_member_who_comes_back_finds_keys_as_they_were(agent: Agent, hub: Hub) -> None:
    change_role(hub, "member", None)
    assert over_both_ways(agent) == [401, 401]
    apart(
        lambda: Membership.objects.create(
            account=hub.account, user_id=hub.people["member"].user_id, role="viewer"
        )
    )
    assert agent("recall")["count"] == 0
    assert agent("remember", text="x").code == "forbidden"


def test_a_demoted_members_key_shrinks_with_them(agent: Agent, hub: Hub) -> None:
    action = proposed(agent)
    change_role(hub, "member", Role.VIEWER)
    for refusal in (
        agent("remember", text="x"),
        agent("kv_set", ns="n", key="k", value=1),
        agent("journal_write", date="2026-03-02", summary="x"),
        agent("record_put", collection="c"),
        agent("forget", query="tea"),
        move(agent, action, "pending", "cancelled"),
    ):
        assert refusal.code == "forbidden"
    assert agent("recall")["count"] == 0


@pytest.mark.parametrize("role", [Role.MEMBER, None])
def test_what_someone_approved_is_not_carried_out_once_they_may_not(
    agent: Agent, hub: Hub, role: Role | None
) -> None:
    approver = Browser(hub, "approver")
    action = approved(approver, agent)
    waiting = proposed(agent)
    approver.get(address(agent, waiting))
    change_role(hub, "approver", role)
    decided = approver.post(f"{address(agent, waiting)}approve/", digest=waiting["digest"])
    assert decided.status_code == (403 if role else 404)
    assert move(agent, action, "approved", "executing").code in ("conflict", "precondition_failed")
    assert status(agent, action) != "executing"


def test_a_revoked_key_is_refused_at_once_in_every_process(
    agent: Agent, hub: Hub, owner: Browser, live_process: str
) -> None:
    elsewhere = httpx2.Client(base_url=live_process, headers=agent.headers)
    assert elsewhere.get("/v1/whoami").status_code == 200
    (key,) = hub.rows("select id from accounts_agentkey where account_id = %s", hub.account.id)[0]
    owner.get(f"/a/{hub.account.slug}/keys/")
    assert owner.post(f"/a/{hub.account.slug}/keys/key_{key.hex}/revoke/").status_code == 302
    assert over_both_ways(agent) == [401, 401]
    assert elsewhere.get("/v1/whoami").status_code == 401
    elsewhere.close()


def test_a_space_that_closes_is_absent_to_the_keys_of_those_outside(agent: Agent, hub: Hub) -> None:
    id = agent("remember", text="Ann likes tea")["memory"]["id"]
    hub.rows("update spaces_space set visibility = 'members'")
    rest = agent.having(wire="rest")
    assert agent("remember", text="x").code == "not_found"
    assert rest("memory_get", id=id).code == "not_found"
    assert rest("whoami").body.get("space") is None


def over_both_ways(agent: Agent) -> list[int]:
    rest = agent.send("GET", "/v1/memories").status
    mcp = agent.post(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}').status_code
    return [rest, mcp]
