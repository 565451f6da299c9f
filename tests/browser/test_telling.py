"""Choosing how one is told, in a real browser: what is offered of Slack in each state it can be in."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection
from actions.models import MailChoice
from memoryhub.common.tenancy import tenant
from tests.browser.conftest import NARROW, WIDE, sign_in
from tests.browser.test_pages import WIDTH, axe_faults
from tests.conftest import Cast

PAGE = "/a/acme/notifications/"
STATES: dict[str, dict[str, Any]] = {
    "not connected": {},
    "from before": {"scopes": ("chat:write",)},
    "offered": {"scopes": ()},
    "on": {"scopes": (), "slack": True},
    "in trouble": {"scopes": (), "slack": True, "trouble": "a_word_of_slacks_own_" + "x" * 50},
    "gone": {"slack": True, "trouble": "not connected"},
}


def bring_about(
    cast: Cast, *, scopes: tuple[str, ...] | None = None, slack: bool = False, trouble: str = ""
) -> None:
    with tenant(cast.account.id):
        if scopes is not None:
            add_connection(cast.owner, "slack", Tokens("a token", scopes=scopes), Identity("T1/U1", "Acme"))
        here = {"account_id": cast.account.id, "user_id": cast.approver.user_id}
        MailChoice.objects.create(**here, slack=slack, slack_trouble=trouble)


@pytest.mark.parametrize("state", STATES)
def test_in_each_state_the_page_is_accessible_and_fits_a_small_phone(
    cast: Cast, page: Page, live_hub: str, state: str
) -> None:
    bring_about(cast, **STATES[state])
    sign_in(page.context, cast.approver, live_hub)
    faults = {}
    for scheme in ("light", "dark"):
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.goto(PAGE)
            assert page.evaluate(WIDTH) <= size["width"]
            if found := axe_faults(page):
                faults[f"{scheme}, {size['width']}"] = found
    assert faults == {}


@pytest.mark.parametrize("kind", ["page", "plain_page"])
def test_a_person_with_a_keyboard_switches_messages_in_slack_on_and_off(
    cast: Cast, live_hub: str, request: pytest.FixtureRequest, kind: str
) -> None:
    bring_about(cast, scopes=())
    page: Page = request.getfixturevalue(kind)
    sign_in(page.context, cast.approver, live_hub)
    page.goto(PAGE)
    card = page.locator("section[aria-labelledby=slack]")
    for press, then in (("Switch on", "Switch off"), ("Switch off", "Switch on")):
        card.get_by_role("button", name=press).focus()
        page.keyboard.press("Enter")
        expect(card.get_by_role("button", name=then)).to_be_visible()
