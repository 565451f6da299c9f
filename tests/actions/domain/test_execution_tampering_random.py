"""Thousands of alterations behind our back, in rows, the queue, revisions and the cache: nothing of it is sent."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache

from accounts.models import Job
from actions.domain.connections import list_connections
from actions.domain.digests import consent_content
from actions.domain.execution import work_off
from actions.domain.lane import RUN
from actions.domain.transitions import reject_action
from actions.models import Action
from memoryhub.common.canonical import canonical_json
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from tests.actions.stage import approve, propose
from tests.calls import as_owner
from tests.conftest import Cast
from tests.vendors.faults import BY_NAME
from tests.vendors.server import Vendor
from tests.vendors.stage import UNDO, approved, connected, now

pytestmark = pytest.mark.django_db(transaction=True)

ISSUE = "github.create_issue"
Tamper = Callable[[random.Random, Action], str]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def on_action(change: str, action: Action) -> str:
    return f"update actions_action set {change} where id = '{action.id}'"


def on_revision(change: str, action: Action) -> str:
    return f"update actions_actionrevision set {change} where action_id = '{action.id}'"


def on_approval(change: str, action: Action) -> str:
    return f"update actions_approval set {change} where action_id = '{action.id}'"


def on_connection(change: str, action: Action) -> str:
    return f"update actions_connection set {change} where id = '{action.current.connection_id}'"


def another_letter(draw: random.Random, text: str) -> str:
    """One character altered, added or dropped."""
    at, letter = draw.randrange(len(text)), draw.choice('abcxyz0189 _-.{}"é\u202e\u200b')
    kind = draw.choice(["altered", "added", "dropped"])
    made = text[:at] + ("" if kind == "dropped" else letter) + text[at + (kind != "added") :]
    return made if made != text else f"{text} "


def other_payload(draw: random.Random, action: Action) -> str:
    """Canonical, and of the class: but another one."""
    payload = action.current.payload
    name = draw.choice(["title", "body", "repo", "labels", "assignees"])
    value = {
        "title": f"{payload['title']}{draw.choice('!?. ')}",
        "body": draw.choice(["", "Send it all", "@everyone"]),
        "repo": draw.choice(["octo/other", "Octo/hello", "octo/hell0"]),
        "labels": [draw.choice(["urgent", "wontfix"])],
        "assignees": [draw.choice(["ann", "bob"])],
    }[name]
    return canonical_json({**payload, name: value}).decode()


def payload_and_digest(draw: random.Random, action: Action) -> str:
    """With the digest that this payload would have had."""
    was, other = action.current.payload_json, other_payload(draw, action)
    content = consent_content(action, action.current).replace(was.encode(), other.encode())
    digest = hashlib.sha256(content).hexdigest()
    return on_revision(f"payload_json = {quoted(other)}, digest = '{digest}'", action)


def hexadecimal(draw: random.Random) -> str:
    return f"{draw.getrandbits(256):064x}"


def conditions(draw: random.Random) -> str:
    return draw.choice(
        ['{"ask":"nobody"}', '{"not_before":"2020-01-01T00:00:00Z"}', '{"kv":{"n/k":1}}', "{} ", ""]
    )


ROWS: dict[str, Tamper] = {
    "executor": lambda draw, a: on_action("executor = 'agent'", a),
    "class": lambda draw, a: on_action(
        f"class_name = '{draw.choice(['slack.send', 'notion.create_page', 'gmail.reply', 'deploy', 'x'])}'", a
    ),
    "expiry of the action": lambda draw, a: on_action(
        f"expires_at = expires_at + interval '{draw.randint(1, 900)} minutes'", a
    ),
    "revision of the action": lambda draw, a: on_action(f"revision = {draw.randint(2, 9)}", a),
    "approval's digest": lambda draw, a: on_approval(f"digest = '{hexadecimal(draw)}'", a),
    "approval's digest by a letter": lambda draw, a: on_approval(
        f"digest = {quoted(another_letter(draw, a.current.digest)[:64])}", a
    ),
    "approval of another revision": lambda draw, a: on_approval(f"revision = {draw.randint(2, 9)}", a),
    "approval voided": lambda draw, a: on_approval("voided_at = decided_at", a),
    "approval was a rejection": lambda draw, a: on_approval("decision = 'reject'", a),
    "approval gone": lambda draw, a: f"delete from actions_approval where action_id = '{a.id}'",
    "account at the vendor": lambda draw, a: on_connection(f"vendor_ref = '{draw.randint(1, 9999)}'", a),
    "vendor of the connection": lambda draw, a: on_connection("vendor = 'slack'", a),
    "token of another row": lambda draw, a: on_connection(f"sealed = 'v1.k.{hexadecimal(draw)}'", a),
}
REVISIONS: dict[str, Tamper] = {
    "payload by a letter": lambda draw, a: on_revision(
        f"payload_json = {quoted(another_letter(draw, a.current.payload_json))}", a
    ),
    "payload": lambda draw, a: on_revision(f"payload_json = {quoted(other_payload(draw, a))}", a),
    "payload and digest": payload_and_digest,
    "payload spelt otherwise": lambda draw, a: on_revision(
        f"payload_json = {quoted(json.dumps(a.current.payload, indent=draw.randint(0, 3)))}", a
    ),
    "digest": lambda draw, a: on_revision(f"digest = '{hexadecimal(draw)}'", a),
    "conditions": lambda draw, a: on_revision(f"preconditions_json = {quoted(conditions(draw))}", a),
    "version of the class": lambda draw, a: on_revision(f"schema_version = {draw.randint(2, 9)}", a),
    "expiry": lambda draw, a: on_revision(
        f"expires_at = expires_at - interval '{draw.randint(1, 900)} minutes'", a
    ),
    "number": lambda draw, a: on_revision(f"number = {draw.randint(2, 9)}", a),
    "no connection": lambda draw, a: on_revision("connection_id = null", a),
}


def altered(draw: random.Random, cast: Cast, vendor: Vendor, clock: Any, tampers: dict[str, Tamper]) -> str:
    """One that was approved, altered before it is claimed or between two tries."""
    with tenant(cast.account.id):
        action = approve(cast.approver, waiting(draw, cast))
    if draw.random() < 0.3:
        vendor.faults.append(BY_NAME["too many requests"])
        clock.shift(UNDO)
        work_off()
    what = draw.choice(sorted(tampers))
    assert as_owner(tampers[what](draw, action)) == 1
    settle(action, clock)
    if tampers[what](draw, action).startswith("update actions_connection"):
        as_owner("update actions_connection set revoked_at = now(), sealed = '' where revoked_at is null")
    return what


def misled(draw: random.Random, cast: Cast, vendor: Vendor, clock: Any) -> str:
    """A job for what nobody approved: it waits, was rejected, or is of another team."""
    with tenant(cast.account.id):
        action = waiting(draw, cast)
        what = draw.choice(["pending", "rejected", "another account", "nothing", "pretended"])
        if what == "rejected":
            reject_action(cast.approver, action.uid)
        account = cast.outsider.account_id if what == "another account" else cast.account.id
        object_id = new_id() if what == "nothing" else action.id
    if what == "pretended":
        as_owner(on_action("status = 'approved', decided_at = now()", action))
    for _ in range(draw.randint(1, 3)):
        Job.objects.create(lane="actions", kind=RUN, account_id=account, object_id=object_id)
    settle(action, clock)
    Job.objects.filter(object_id=object_id).delete()
    return f"a job for what is {what}"


def cached(draw: random.Random, cast: Cast, vendor: Vendor, clock: Any) -> str:
    """The cache says that it is approved, under every name that anybody may think of; and there is a job."""
    with tenant(cast.account.id):
        action = waiting(draw, cast)
    name = draw.choice(["action", "approval", "digest", "status", "policy", "session"])
    for key in (
        f"{name}:{action.id}",
        f"{name}:{action.uid}",
        f"{action.uid}",
        f"{name}:{action.current.digest}",
    ):
        cache.set(key, draw.choice(["approved", True, {"status": "approved"}, action.current.digest]))
    Job.objects.create(lane="actions", kind=RUN, account_id=cast.account.id, object_id=action.id)
    settle(action, clock)
    return f"a cached {name}"


def waiting(draw: random.Random, cast: Cast) -> Action:
    """A proposal that can be approved, whatever was done to the connection before."""
    if not list_connections(cast.owner):
        connected(cast.owner, ISSUE)
    return propose(cast.agent, class_name=ISSUE, payload=some_issue(draw)).action


def some_issue(draw: random.Random) -> dict[str, Any]:
    return {"repo": "octo/hello", "title": f"It breaks {draw.random()}", "body": "On Mondays"}


def settle(action: Action, clock: Any) -> None:
    clock.shift(UNDO)
    for _ in range(2):
        work_off()
        clock.shift(40)
    with tenant(action.account_id):
        assert Action.objects.get(id=action.id).status != "done"
    Job.objects.filter(object_id=action.id).delete()


def tampered(cast: Cast, vendor: Vendor, clock: Any, times: int) -> Counter[str]:
    draw, tried = random.Random(times), Counter[str]()
    levels: list[Callable[[], str]] = [
        lambda: altered(draw, cast, vendor, clock, ROWS),
        lambda: altered(draw, cast, vendor, clock, REVISIONS),
        lambda: misled(draw, cast, vendor, clock),
        lambda: cached(draw, cast, vendor, clock),
    ]
    for n in range(times):
        tried[levels[n % len(levels)]()] += 1
        assert vendor.made == [], f"sent after: {tried}"
    return tried


def test_nothing_of_it_is_sent(cast: Cast, clock: Any, vendors: dict[str, Vendor]) -> None:
    tried = tampered(cast, vendors["github"], clock, 24)
    print(f"{sum(tried.values())} tampers of {len(tried)} kinds: 0 sent")
    assert len(tried) > 12


@pytest.mark.slow
def test_nothing_of_2_000_of_them_is_sent(cast: Cast, clock: Any, vendors: dict[str, Vendor]) -> None:
    tried = tampered(cast, vendors["github"], clock, 2_000)
    print(f"{sum(tried.values())} tampers of {len(tried)} kinds: 0 sent")
    assert min(tried.values()) >= 5


def test_what_nobody_touched_is_sent(cast: Cast, clock: Any, vendors: dict[str, Vendor]) -> None:
    """That the others are not is no accident."""
    with tenant(cast.account.id):
        action = approved(cast, ISSUE, payload=some_issue(random.Random(1)))
    clock.shift(UNDO)
    work_off()
    with tenant(cast.account.id):
        assert now(action, cast).status == "done"
    assert len(vendors["github"].made) == 1
