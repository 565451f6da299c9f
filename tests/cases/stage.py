"""What the cases of actions share."""

from itertools import count
from typing import Any

from tests.cases.hub import Agent, Answer, Browser

PAYLOAD = {"channel": "#launch", "text": "We are live."}
numbers = count(1)


def propose(agent: Agent, **changes: Any) -> Answer:
    given = {
        "class": "chat.send",
        "summary": "Tell #launch that we are live",
        "payload": PAYLOAD,
        "idempotency_key": f"key-{next(numbers)}",
    }
    return agent("action_propose", **{**given, **changes})


def proposed(agent: Agent, **changes: Any) -> dict[str, Any]:
    action: dict[str, Any] = propose(agent, **changes)["action"]
    return action


def address(agent: Agent, action: dict[str, Any]) -> str:
    return f"{agent.hub.place}/actions/{action['id']}/"


def approve(person: Browser, agent: Agent, action: dict[str, Any], digest: str | None = None) -> int:
    page = address(agent, action)
    person.get(page)
    sent = action["digest"] if digest is None else digest
    return person.post(f"{page}approve/", digest=sent).status_code


def approved(person: Browser, agent: Agent, **changes: Any) -> dict[str, Any]:
    action = proposed(agent, **changes)
    assert approve(person, agent, action) == 302
    return action


def move(agent: Agent, action: dict[str, Any], start: str, to: str, **more: Any) -> Answer:
    return agent("action_transition", id=action["uid"], to=to, **{"from": start}, **more)


def status(agent: Agent, action: dict[str, Any]) -> str:
    found: str = agent.having(wire="rest")("action_get", id=action["uid"])["action"]["status"]
    return found
