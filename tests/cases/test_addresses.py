"""Whatever stands in an address or a form, a page answers and breaks nothing."""

from urllib.parse import quote, urlencode

import pytest

from tests.cases.hub import Agent, Browser, Hub
from tests.cases.stage import proposed

PAGES = {
    "inbox/": ("tab", "class", "agent", "page", "open"),
    "memories/": ("q", "kind", "tier", "tag", "subject", "status", "page"),
    "journal/": ("kind", "page"),
    "records/new/": ("collection",),
    "records/in/c/": ("status", "page"),
    "values/new/": ("namespace",),
    "values/in/n/": ("page",),
    "values/in/n/value/": ("key",),
    "forget/": ("query", "ids", "scopes"),
}
ODD = (
    "\0",
    "x" * 3000,
    "9" * 20,
    "A" + "9" * 12,
    "-1",
    "null",
    "2026-99-99",
    "\U0001f600",
    "' or 1=1 --",
    "%00",
)


def test_odd_values_in_an_address_are_answered(hub: Hub, owner: Browser) -> None:
    broken = []
    for page, names in PAGES.items():
        for name in names:
            for value in ODD:
                status = owner.get(f"{hub.place}/{page}?{urlencode({name: value})}").status_code
                broken += [(page, name, value[:20], status)] if status not in (200, 400, 404, 422) else []
    assert broken == []


@pytest.mark.parametrize("decision", ["approve", "reject", "end"])
@pytest.mark.parametrize("name", ["digest", "reason", "from", "to"])
def test_odd_values_in_a_decision_change_nothing(hub: Hub, owner: Browser, decision: str, name: str) -> None:
    agent = Agent(hub, "rest", hub.key())
    action = proposed(agent)
    page = f"{hub.place}/actions/{action['id']}/"
    owner.get(page)
    given = {"digest": "0" * 64, "from": "pending", "to": "done", "reason": "x" * 501}
    for value in ODD:
        status = owner.post(f"{page}{decision}/", **{**given, name: value}).status_code
        assert status in (400, 403, 404, 409, 422) or (decision, name, status) == ("reject", "reason", 302)
    if (decision, name) != ("reject", "reason"):
        assert agent("action_get", id=action["uid"])["action"]["status"] == "pending"


@pytest.mark.parametrize("wanted", ["home", "keys", "9" * 20, "", "\0", "?x", "#y"])
def test_an_address_to_go_back_to_that_is_none_leads_home(hub: Hub, owner: Browser, wanted: str) -> None:
    owner.get(f"{hub.place}/inbox/")
    answer = owner.post("/appearance/", theme="dark", next=wanted)
    assert (answer.status_code, answer.headers["location"]) == (302, "/")


def test_names_in_an_address_that_are_none_are_absent(hub: Hub, owner: Browser) -> None:
    for odd in ("%00", "%0A", "%ED%A0%BD", "x" * 300, "A0", "A-1", quote("\U0001f600"), "mem_" + "0" * 32):
        for page in (f"actions/{odd}/", f"memories/{odd}/", f"records/in/c/{odd}/", f"journal/day/{odd}/"):
            assert owner.get(f"{hub.place}/{page}").status_code == 404, (page, odd)
