"""A dream, followed and taken back on an open page."""

import re

from playwright.sync_api import Page, expect

from memoryhub.common.tenancy import tenant
from tests.browser.conftest import sign_in
from tests.conftest import Cast
from tests.spaces.domain.dreams.stage import Dreamer, dreamer_in

DREAMS = "/a/acme/main/dreams/"
MERGED = "The deploy window is Tuesday 14:00 UTC"


def dreaming(cast: Cast) -> tuple[Dreamer, list[str]]:
    with tenant(cast.account.id):
        dreamer = dreamer_in(cast)
        return dreamer, dreamer.fills()


def test_a_dream_is_followed_as_it_goes_and_can_be_taken_back(cast: Cast, page: Page, live_hub: str) -> None:
    dreamer, ids = dreaming(cast)
    sign_in(page.context, cast.teammate, live_hub)
    page.goto(DREAMS)
    page.get_by_role("button", name="Dream now").click()
    expect(page.locator("[data-live-state]").first).to_have_attribute("data-live-state", "live")
    expect(page.get_by_text("an agent thinks")).to_be_visible()
    page.evaluate("window.sameDocument = true")
    with tenant(cast.account.id):
        dreamer.dreams({"op": "merge", "ids": ids[:2], "text": MERGED})
    expect(page.get_by_role("heading", name="Merge")).to_be_visible()

    left = page.get_by_role("timer")
    expect(left).to_have_text(re.compile(r"^6 days 23:\d\d:\d\d$"))
    before = left.text_content()
    expect(left).not_to_have_text(before or "")
    assert page.evaluate("window.sameDocument") is True

    page.get_by_role("link", name="See what an undo would do").click()
    page.get_by_role("button", name="Undo this dream").click()
    expect(page.get_by_role("heading", name="Undone")).to_be_visible()


def test_without_scripts_the_time_that_is_left_stands_there(
    cast: Cast, plain_page: Page, live_hub: str
) -> None:
    dreamer, ids = dreaming(cast)
    with tenant(cast.account.id):
        run = dreamer.dreams({"op": "merge", "ids": ids[:2], "text": MERGED})["run_id"]
    sign_in(plain_page.context, cast.teammate, live_hub)
    plain_page.goto(f"{DREAMS}{run}/")
    expect(plain_page.get_by_role("timer")).to_have_text("6\u00a0days, 23\u00a0hours")
