"""The same way with a real service, for who has a token: never a part of the suite.

LIVE_SLACK, LIVE_GMAIL, LIVE_CALENDAR, LIVE_GITHUB and LIVE_NOTION hold JSON: {"token": "…", "payload": {…}}, the
payload as an agent would propose it. It really is sent. LIVE_SLACK_PERSON holds {"token": "…", "address": "…"}: who has
that address in Slack gets a message.
"""

import json
import os
from zoneinfo import ZoneInfo

import pytest

from actions.connectors import CONNECTORS
from actions.connectors.client import asking, send
from actions.connectors.identity import identify
from actions.connectors.slack import posting
from actions.connectors.slack_people import conversation_with
from memoryhub.common.ids import new_id, typed_id
from tests.vendors.stage import CLASSES, service_of

REAL = {
    "slack": "https://slack.com",
    "gmail": "https://gmail.googleapis.com",
    "calendar": "https://www.googleapis.com",
    "github": "https://api.github.com",
    "notion": "https://api.notion.com",
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_real_service_takes_it_and_shows_it_by_its_marker(settings, name: str) -> None:
    service = service_of(name)
    given = os.environ.get(f"LIVE_{service.upper()}")
    if not given:
        pytest.skip(f"LIVE_{service.upper()} is not set")
    settings.VENDOR_URLS, live = REAL, json.loads(given)
    connector, marker = CONNECTORS[name], typed_id("act", new_id())
    assert identify(connector.vendor, live["token"]).ref
    ask = asking(service, live["token"])
    payload = connector.resolve(ask, connector.normalise(live["payload"], ZoneInfo("UTC")))
    made = connector.receipt(send(service, live["token"], connector.call(payload, marker)).body)
    found = connector.find(ask, payload, marker)
    assert found is not None
    assert found.items() <= made.items()


def test_the_real_slack_finds_a_person_and_takes_a_message_to_them(settings) -> None:
    given = os.environ.get("LIVE_SLACK_PERSON")
    if not given:
        pytest.skip("LIVE_SLACK_PERSON is not set")
    settings.VENDOR_URLS, live = REAL, json.loads(given)
    conversation = conversation_with(asking("slack", live["token"]), live["address"])
    said = posting(conversation, "A test of Memory Hub: <https://example.org/>")
    assert send("slack", live["token"], said).body["channel"] == conversation
