"""What tests of carrying out share: a payload for each class, a connection, and the way from proposal to worker."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from django.utils import timezone

from accounts.actor import Actor, system_actor
from actions.connectors import CONNECTORS
from actions.domain.actions import access_action
from actions.domain.connections import connect
from actions.domain.execution import work_off
from actions.domain.signing_in import come_back, set_out
from actions.domain.transitions import transition_action
from actions.models import Action, Attempt, Connection
from tests.actions.stage import approve, propose
from tests.conftest import Cast
from tests.vendors.server import TOKEN

PAYLOADS: dict[str, dict[str, Any]] = {
    "slack.send": {"channel": "#launch", "message": "We are live & <well>"},
    "gmail.reply": {"thread_id": "18C0FFEE", "body": "Yes, gladly."},
    "calendar.create": {"title": "Lunch", "start": "2026-05-27T12:00Z", "end": "2026-05-27T13:00Z"},
    "github.create_issue": {"repo": "octo/hello", "title": "It breaks", "body": "On Mondays"},
    "notion.create_page": {"parent_id": "a" * 32, "title": "Plan", "content": "# One\n\nTwo"},
}
CLASSES = list(PAYLOADS)
UNDO = 11


def service_of(class_name: str) -> str:
    return CONNECTORS[class_name].service


def agreed(url: str) -> dict[str, str]:
    """What a browser brings back once its person has agreed at that address."""
    answer = httpx2.get(url, follow_redirects=False, trust_env=False)
    assert answer.status_code == 302, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


def signed_in(person: Actor, vendor: str) -> Connection:
    journey = set_out(vendor)
    return come_back(person, vendor, agreed(journey.url)["code"], journey.verifier)


def connected(person: Actor, class_name: str) -> Connection:
    return connect(person, CONNECTORS[class_name].vendor, TOKEN)


def prepared(cast: Cast, class_name: str, **fields: Any) -> Action:
    """Proposed, and known where it leads."""
    given = {"class_name": class_name, "payload": PAYLOADS[class_name], **fields}
    action = propose(cast.agent, **given).action
    work_off()
    return now(action, cast)


def approved(cast: Cast, class_name: str, **fields: Any) -> Action:
    connected(cast.owner, class_name)
    return approve(cast.approver, prepared(cast, class_name, **fields))


def carried_out(action: Action, cast: Cast, clock: Any, *, seconds: float = 20, rounds: int = 15) -> Action:
    """The worker's rounds, until nothing more comes of them."""
    clock.shift(UNDO)
    for _ in range(rounds):
        work_off()
        action = now(action, cast)
        if action.status in ("done", "failed", "expired", "cancelled") or action.doubt:
            break
        clock.shift(seconds)
    return action


def abandoned(action: Action) -> None:
    """Taken up by a worker of which nothing was heard after it had committed its attempt."""
    transition_action(system_actor(action.account_id), action.uid, "approved", "executing")
    Attempt.objects.create(
        account_id=action.account_id, space_id=action.space_id, action=action, number=1, revision=action.revision,
        digest=action.current.digest, started_at=timezone.now(),
    )  # fmt: skip


def outcomes(action: Action) -> list[str]:
    return [a.outcome for a in Attempt.objects.filter(action=action).order_by("number")]


def now(action: Action, cast: Cast) -> Action:
    return access_action(cast.owner, action.uid)
