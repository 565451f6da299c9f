"""Each vendor here is proven by a second witness: the vendor's own SDK makes the same thing as our client."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from actions.connectors import CONNECTORS
from actions.connectors.answers import Refused
from actions.connectors.client import asking, send
from tests.vendors.server import TOKEN, Vendor
from tests.vendors.stage import CLASSES, PAYLOADS, service_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
UTC = ZoneInfo("UTC")
OURS, THEIRS = ("act_" + digit * 32 for digit in "12")


def resolved(class_name: str) -> dict[str, Any]:
    connector = CONNECTORS[class_name]
    payload = connector.normalise(PAYLOADS[class_name], UTC)
    return connector.resolve(asking(connector.service, TOKEN), payload)


def by_slack(address: str, body: dict[str, Any], query: dict[str, str]) -> str:
    from slack_sdk import WebClient

    return str(WebClient(TOKEN, base_url=f"{address}/api/").chat_postMessage(**body)["ts"])


def by_gmail(address: str, body: dict[str, Any], query: dict[str, str]) -> str:
    with google("gmail", "v1", address) as service:
        return str(service.users().messages().send(userId="me", body=body).execute()["id"])


def by_calendar(address: str, body: dict[str, Any], query: dict[str, str]) -> str:
    with google("calendar", "v3", f"{address}/calendar/v3/") as service:
        return str(service.events().insert(calendarId="primary", body=body, **query).execute()["id"])


def google(name: str, version: str, address: str) -> Any:
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build

    options = {"api_endpoint": address}
    credentials = Credentials(token=TOKEN)
    return build(name, version, credentials=credentials, client_options=options, static_discovery=True)


def by_github(address: str, body: dict[str, Any], query: dict[str, str]) -> str:
    from github import Auth, Github

    with Github(base_url=address, auth=Auth.Token(TOKEN), retry=None) as hub:
        return str(hub.get_repo("octo/hello", lazy=True).create_issue(**body).number)


def by_notion(address: str, body: dict[str, Any], query: dict[str, str]) -> str:
    from notion_client import Client

    with Client(auth=TOKEN, base_url=address, notion_version="2022-06-28") as client:
        return str(client.pages.create(**body)["id"])


WITNESSES: dict[str, Callable[[str, dict[str, Any], dict[str, str]], str]] = {
    "slack": by_slack, "gmail": by_gmail, "calendar": by_calendar, "github": by_github, "notion": by_notion,
}  # fmt: skip
OWN = {"id", "ts", "number", "html_url", "url", "object"}


def same(made: dict[str, Any], marker: str) -> Any:
    """Without what the vendor gives each thing, and with the marker blotted out."""
    kept = {name: value for name, value in made.items() if name not in OWN}
    return json.dumps(kept, sort_keys=True, default=repr).replace(marker, "…")


@pytest.mark.parametrize("name", CLASSES)
def test_the_sdk_and_our_client_make_the_same(vendors: dict[str, Vendor], settings, name: str) -> None:
    connector, vendor = CONNECTORS[name], vendors[service_of(name)]
    payload = resolved(name)
    send(connector.service, TOKEN, connector.call(payload, OURS))
    theirs = connector.call(payload, THEIRS)
    assert theirs.body is not None
    made = WITNESSES[connector.service](
        settings.VENDOR_URLS[connector.service], theirs.body, dict(theirs.query)
    )
    ours, by_sdk = vendor.made
    assert made
    assert same(ours, OURS) == same(by_sdk, THEIRS)


@pytest.mark.parametrize("name", CLASSES)
def test_each_finds_by_its_marker_what_the_other_made(
    vendors: dict[str, Vendor], settings, name: str
) -> None:
    connector = CONNECTORS[name]
    payload, ask = resolved(name), asking(service_of(name), TOKEN)
    assert connector.find(ask, payload, OURS) is None
    made = connector.receipt(send(connector.service, TOKEN, connector.call(payload, OURS)).body)
    theirs = connector.call(payload, THEIRS)
    assert theirs.body is not None
    WITNESSES[connector.service](settings.VENDOR_URLS[connector.service], theirs.body, dict(theirs.query))
    for marker in (OURS, THEIRS):
        found = connector.find(ask, payload, marker)
        assert found is not None
        assert (found.items() <= made.items()) is (marker == OURS)
    assert connector.find(ask, payload, "act_" + "3" * 32) is None


WRONG: dict[str, dict[str, Any]] = {
    "slack.send": {"channel": "C0LAUNCH01", "text": "x", "unfurl": False},
    "gmail.reply": {"raw": "x", "thread": "18c0ffee"},
    "calendar.create": {"id": "mh1", "summary": "x", "begin": {}},
    "github.create_issue": {"body": "no title"},
    "notion.create_page": {"parent": {"page_id": "a" * 32}},
}


@pytest.mark.parametrize("name", CLASSES)
def test_what_the_vendors_description_does_not_have_is_refused(vendors: dict[str, Vendor], name: str) -> None:
    connector = CONNECTORS[name]
    call = connector.call(resolved(name), OURS)
    with pytest.raises(Refused):
        send(connector.service, TOKEN, replace(call, body=WRONG[name]))
    assert vendors[connector.service].made == []
