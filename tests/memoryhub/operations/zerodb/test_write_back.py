"""What sends elsewhere only proposes here, as the class whose form the connectors know."""

from typing import Any

import pytest
from django.conf import settings

from accounts.scopes import Scope
from actions.domain.policies.rules import Draft, create_policy
from actions.models import Action
from memoryhub.common.errors import HubError
from memoryhub.common.tenancy import tenant
from tests.calls import at_once, call
from tests.conftest import Cast, make_key
from tests.memoryhub.operations.zerodb.conftest import Ask, ask
from tests.memoryhub.operations.zerodb.test_memories import refusal

SENT: dict[str, dict[str, Any]] = {
    "slack_send": {"channel": "#launch", "message": "We are live & well."},
    "gmail_reply": {"thread_id": "18c2f3a4b5d6e7f8", "body": "Thanks, Ana."},
    "calendar_create": {"title": "Review", "start": "2026-12-24T18:00:00", "end": "2026-12-24T19:00:00"},
    "github_create_issue": {"repo": "acme/backend", "title": "It is slow", "body": "Very."},
    "notion_create_page": {"parent_id": "f" * 32, "title": "Notes", "content": "# One\n\nTwo."},
}
CLASSES = {
    "slack_send": "slack.send",
    "gmail_reply": "gmail.reply",
    "calendar_create": "calendar.create",
    "github_create_issue": "github.create_issue",
    "notion_create_page": "notion.create_page",
}


def action(cast: Cast, answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = call(cast.agent, "action_get", id=answer["action_id"])["action"]
    return found


@pytest.mark.parametrize("name", SENT)
def test_each_tool_proposes_an_action_of_its_class_and_sends_nothing(
    tool: Ask, cast: Cast, name: str
) -> None:
    answer = tool(name, **SENT[name])
    assert answer == {
        "success": True,
        "status": "pending_approval",
        "action_id": "A1",
        "approve_url": f"{settings.PUBLIC_URL}/a/acme/main/actions/A1/",
        "warnings": ["not_connected"],
    }
    proposed = action(cast, answer)
    assert (proposed["class"], proposed["status"]) == (CLASSES[name], "pending")


def test_the_payload_is_kept_in_the_form_of_its_class(tool: Ask, cast: Cast) -> None:
    message = action(cast, tool("slack_send", **SENT["slack_send"]))["payload"]
    assert (message["channel"], message["text"]) == ("#launch", "We are live &amp; well.")
    event = action(cast, tool("calendar_create", **SENT["calendar_create"]))["payload"]
    assert event["start"] != SENT["calendar_create"]["start"]  # without an offset it was nowhere


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("calendar_create", {"end": "2026-12-24T17:00:00"}),
        ("github_create_issue", {"repo": "nowhere"}),
        ("gmail_reply", {"thread_id": "not hexadecimal"}),
    ],
)
def test_what_the_class_does_not_take_is_refused_and_nothing_is_proposed(
    tool: Ask, cast: Cast, name: str, changed: dict[str, Any]
) -> None:
    assert refusal(lambda: tool(name, **{**SENT[name], **changed}))["code"] == "validation_failed"
    with tenant(cast.account.id):
        assert not Action.objects.exists()


def test_the_same_again_while_it_waits_is_the_same_action(tool: Ask, cast: Cast) -> None:
    first = tool("slack_send", **SENT["slack_send"])
    assert tool("slack_send", **SENT["slack_send"]) == first
    assert tool("slack_send", **{**SENT["slack_send"], "message": "Another"})["action_id"] == "A2"
    other, _ = make_key(cast.teammate, cast.space, name="other")
    assert ask(other, "zerodb_slack_send", **SENT["slack_send"])["action_id"] == "A3"
    move = {"id": "A1", "from": "pending", "to": "cancelled"}
    call(cast.agent, "action_transition", **move)
    assert tool("slack_send", **SENT["slack_send"])["action_id"] == "A4"


@pytest.mark.django_db(transaction=True)
def test_the_same_many_times_at_once_is_one_action(tool: Ask) -> None:
    answers = at_once(8, lambda n: tool("slack_send", **SENT["slack_send"]))
    assert {a["action_id"] for a in answers if not isinstance(a, HubError)} == {"A1"}


def test_only_who_may_propose_may(cast: Cast) -> None:
    key = cast.key(scopes=frozenset({Scope.MEMORY_WRITE}))
    assert refusal(lambda: ask(key, "zerodb_slack_send", **SENT["slack_send"]))["code"] == "forbidden"
    viewer = cast.key(role=cast.viewer.role)
    assert refusal(lambda: ask(viewer, "zerodb_slack_send", **SENT["slack_send"]))["code"] == "forbidden"


def test_what_a_rule_of_the_space_denies_is_refused(tool: Ask, cast: Cast) -> None:
    with tenant(cast.account.id):
        create_policy(cast.owner.in_space("main"), Draft("No messages", "deny", "slack.send"))
    assert refusal(lambda: tool("slack_send", **SENT["slack_send"]))["code"] == "forbidden"
    assert tool("notion_create_page", **SENT["notion_create_page"])["status"] == "pending_approval"


def test_no_tool_of_the_family_approves(tool: Ask, cast: Cast) -> None:
    answer = tool("slack_send", **SENT["slack_send"])
    move = {"id": answer["action_id"], "from": "pending", "to": "approved"}
    assert refusal(lambda: call(cast.agent, "action_transition", **move))["code"] == "forbidden"
