"""Agents propose, people decide, and what runs is what was shown, in time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from time_machine import TimeMachineFixture

from tests.cases.hub import Agent, Browser, Hub
from tests.cases.stage import address, approve, approved, move, propose, proposed, status

STATES = ("pending", "approved", "rejected", "executing", "done", "failed", "expired", "cancelled")


@pytest.mark.parametrize("to", [s for s in STATES if s != "cancelled"])
def test_no_agent_moves_a_pending_action_but_to_take_it_back(agent: Agent, hub: Hub, to: str) -> None:
    """Not the one that proposed it, nor the key of the very person who could decide."""
    action = proposed(agent)
    for asking in (agent, agent.having(secret=hub.key("owner"))):
        assert move(asking, action, "pending", to).code in ("forbidden", "invalid_transition")
    assert status(agent, action) == "pending"


def test_an_agent_takes_back_its_own_proposal_and_no_others(agent: Agent, hub: Hub) -> None:
    action = proposed(agent)
    assert move(agent.having(secret=hub.key("owner")), action, "pending", "cancelled").code == "forbidden"
    assert move(agent, action, "pending", "cancelled")["action"]["status"] == "cancelled"


def test_an_approval_can_not_be_slipped_in_with_the_proposal(agent: Agent) -> None:
    action = propose(agent, meta={"status": "approved"}, status="approved", approved=True)
    assert action["action"]["status"] == "pending"
    assert action["warnings"] == ["Ignored unknown argument: approved", "Ignored unknown argument: status"]


def test_only_the_agent_that_claimed_reports_and_only_once(agent: Agent, hub: Hub, owner: Browser) -> None:
    action = approved(owner, agent)
    other = agent.having(secret=hub.key())
    assert move(agent, action, "approved", "done").code == "invalid_transition"
    assert move(agent, action, "approved", "executing")["action"]["status"] == "executing"
    assert move(other, action, "executing", "done", receipt={"ok": True}).code == "forbidden"
    assert move(agent, action, "executing", "done", receipt={"ok": True})["action"]["receipt"] == {"ok": True}
    assert move(agent, action, "executing", "done").code == "conflict"


def test_deciding_needs_a_browsers_session_and_the_token_of_its_page(
    agent: Agent, hub: Hub, owner: Browser
) -> None:
    action = proposed(agent)
    page = address(agent, action)
    owner.get(page)
    for decision in ("approve", "reject", "end"):
        form = {"digest": action["digest"], "from": "pending", "to": "cancelled"}
        assert owner.send(f"{page}{decision}/", form).status_code == 403
        by_key = agent.post(b"", f"{page}{decision}/")
        assert by_key.status_code == 403
    session = hub.app.request(
        "POST", f"/v1/actions/{action['uid']}/transition", json={}, headers=owner.headers()
    )
    assert session.status_code == 401
    assert status(agent, action) == "pending"


@pytest.mark.parametrize("role", ["admin", "member", "viewer"])
def test_who_may_not_decide_decides_nothing(agent: Agent, hub: Hub, role: str) -> None:
    action = proposed(agent)
    person = Browser(hub, role)
    page = address(agent, action)
    person.get(page)
    for decision in ("approve", "reject"):
        assert person.post(f"{page}{decision}/", digest=action["digest"]).status_code == 403
    assert status(agent, action) == "pending"


@pytest.mark.parametrize("digest", ["", "0" * 64, "nonsense"])
def test_approving_something_else_than_what_is_there_changes_nothing(
    agent: Agent, owner: Browser, digest: str
) -> None:
    action = proposed(agent)
    assert approve(owner, agent, action, digest) in (409, 422)
    assert status(agent, action) == "pending"


def test_the_page_holds_every_byte_of_what_would_be_done(agent: Agent, owner: Browser) -> None:
    words = [f"word-{n:04d}" for n in range(2500)]
    action = proposed(agent, payload={"to": "ann@example.com", "text": " ".join(words)})
    page = owner.get(address(agent, action)).text
    assert [word for word in words if word not in page] == []


def test_what_hides_in_a_recipient_is_made_visible(agent: Agent, owner: Browser) -> None:
    action = proposed(agent, payload={"to": "ann\u202e@example.com", "cc": "b\u200bob@example.com"})
    page = owner.get(address(agent, action)).text
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "U+202E" in page
    assert "U+200B" in page


def test_a_placeholder_is_sent_as_it_is_written(agent: Agent, owner: Browser) -> None:
    agent("kv_set", ns="n", key="to", value="mallory@evil.example")
    action = approved(owner, agent, payload={"to": "{{kv.n.to}}", "n": "{{7*7}}"})
    claimed = move(agent, action, "approved", "executing")["action"]
    assert claimed["payload"] == {"to": "{{kv.n.to}}", "n": "{{7*7}}"}


@pytest.fixture
def clock(time_machine: TimeMachineFixture) -> TimeMachineFixture:
    time_machine.move_to(datetime.now(UTC), tick=False)
    return time_machine


def in_seconds(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def test_an_expired_action_can_not_be_approved_though_nothing_has_swept_it(
    agent: Agent, owner: Browser, clock: Any
) -> None:
    action = proposed(agent, expires_at=in_seconds(3))
    page = address(agent, action)
    assert "approve/" in owner.get(page).text
    clock.shift(3)
    answer = owner.post(f"{page}approve/", digest=action["digest"])
    assert answer.status_code == 409
    assert "expired" in answer.text
    assert "approve/" not in owner.get(page).text
    assert status(agent, action) == "expired"
    assert [a["id"] for a in agent("action_list", status="expired")["items"]] == [action["id"]]
    assert agent("action_list")["items"] == []
    assert propose(agent)["created"] is True


def test_what_was_approved_in_time_can_not_be_claimed_late(agent: Agent, owner: Browser, clock: Any) -> None:
    action = approved(owner, agent, expires_at=in_seconds(3))
    clock.shift(10)
    assert move(agent, action, "approved", "executing").code == "conflict"
    assert status(agent, action) == "expired"


def test_what_is_executing_does_not_expire(agent: Agent, owner: Browser, clock: Any) -> None:
    action = approved(owner, agent, expires_at=in_seconds(3))
    move(agent, action, "approved", "executing")
    clock.shift(10)
    assert move(agent, action, "executing", "done")["action"]["status"] == "done"


@pytest.mark.parametrize("expires_at", ["2020-01-01T00:00:00Z", "2020-01-01", "2099-01-01", "soon", "now"])
def test_an_expiry_in_the_past_or_too_far_ahead_is_refused(agent: Agent, expires_at: str) -> None:
    assert propose(agent, expires_at=expires_at).fields == ["expires_at"]
