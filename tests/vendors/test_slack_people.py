"""Finding a person in Slack and writing to them alone: our client and Slack's own SDK see the same."""

import json

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from actions.connectors.answers import Refused, Trouble
from actions.connectors.client import asking, send
from actions.connectors.slack import posting
from actions.connectors.slack_people import conversation_with
from tests.vendors.fakes import Slack
from tests.vendors.server import TOKEN, Vendor

ANN = "ann@acme.example"


@pytest.fixture
def slack(vendors: dict[str, Vendor]) -> Slack:
    found = vendors["slack"]
    assert isinstance(found, Slack)
    found.join("bob@acme.example")
    found.join(ANN)
    return found


@pytest.fixture
def sdk(slack: Slack, settings) -> WebClient:
    return WebClient(TOKEN, base_url=f"{settings.VENDOR_URLS['slack']}/api/")


def opened_by(sdk: WebClient, address: str) -> str:
    user = sdk.users_lookupByEmail(email=address)["user"]["id"]
    return str(sdk.conversations_open(users=user)["channel"]["id"])


def test_both_find_the_same_person_and_open_the_same_conversation(slack: Slack, sdk: WebClient) -> None:
    ours = conversation_with(asking("slack", TOKEN), ANN)
    assert ours == opened_by(sdk, ANN) == conversation_with(asking("slack", TOKEN), ANN.upper())
    assert ours != opened_by(sdk, "bob@acme.example")
    assert len(slack.open) == 2


def test_both_say_the_same_there(slack: Slack, sdk: WebClient) -> None:
    call = posting(conversation_with(asking("slack", TOKEN), ANN), "1 waits: <https://hub.example/>")
    send("slack", TOKEN, call)
    assert call.body is not None
    sdk.chat_postMessage(**call.body)
    ours, theirs = ({k: v for k, v in message.items() if k != "ts"} for message in slack.made)
    assert json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


@pytest.mark.parametrize("why", ["users_not_found", "missing_scope", "user_disabled", "token_revoked"])
def test_both_are_refused_for_the_same_reason(slack: Slack, sdk: WebClient, why: str) -> None:
    address = ANN
    match why:
        case "users_not_found":
            address = "nobody@acme.example"
        case "missing_scope":
            slack.forbidden.add("users:read.email")
        case "user_disabled":
            slack.always["conversations_open"] = {"ok": False, "error": "user_disabled"}
        case "token_revoked":
            slack.token = "another"
    with pytest.raises(SlackApiError) as theirs:
        opened_by(sdk, address)
    assert theirs.value.response["error"] == why
    with pytest.raises(Trouble) as ours:
        conversation_with(asking("slack", TOKEN), address)
    assert ours.value.reason == why


@pytest.mark.parametrize("wrong", ["C0LAUNCH99", "D0DIRECT99"])
def test_a_conversation_that_nobody_opened_is_not_known(slack: Slack, sdk: WebClient, wrong: str) -> None:
    with pytest.raises(SlackApiError, match="channel_not_found"):
        sdk.chat_postMessage(channel=wrong, text="x")
    with pytest.raises(Refused, match="channel_not_found"):
        send("slack", TOKEN, posting(wrong, "x"))
