from importlib.resources import files
from typing import Any

import pytest
from django.contrib import admin
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, WIDE, sign_in
from tests.browser.stage import Hostile, make_hostile
from tests.conftest import Cast

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
PROTOCOLS = "links => links.map(link => new URL(link.href.baseVal ?? link.href, document.baseURI).protocol)"
RUN = "axe.run(document, {resultTypes: ['violations', 'incomplete']})"


@pytest.fixture
def hostile(cast: Cast, live_hub: str) -> Hostile:
    return make_hostile(cast)


def visit_all(page: Page, hostile: Hostile, cast: Cast, live_hub: str) -> Any:
    """Opens each page in turn: (its name, the page); those for the signed-out come first."""
    for name, address in hostile.doors.items():
        page.goto(address)
        yield name, page
    sign_in(page.context, cast.owner, live_hub)
    for name, address in hostile.pages.items():
        page.goto(address)
        yield name, page


def test_every_page_is_accessible_in_light_and_in_dark(
    hostile: Hostile, cast: Cast, page: Page, watch: Any, live_hub: str
) -> None:
    watch.expected = ("400", "404", "410")
    faults = {}
    for name, shown in visit_all(page, hostile, cast, live_hub):
        for scheme in ("light", "dark"):
            shown.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if found := axe_faults(shown):
                faults[f"{name}, {scheme}"] = found
    assert faults == {}


def axe_faults(page: Page) -> list[str]:
    """Everything that axe finds, and every contrast that it can't decide."""
    page.evaluate("Promise.allSettled(document.getAnimations().map((animation) => animation.finished))")
    page.evaluate(AXE)
    results = page.evaluate(RUN)
    undecided = [result for result in results["incomplete"] if result["id"] == "color-contrast"]
    return [
        f"{result['id']}: {node['target']} {node['any'][0]['message'] if node['any'] else ''}"
        for result in [*results["violations"], *undecided]
        for node in result["nodes"]
    ]


WIDTH = "document.documentElement.scrollWidth"
WIDER = """[...document.querySelectorAll("main *")]
    .filter(it => it.getBoundingClientRect().right > innerWidth)
    .map(it => `${it.tagName}.${it.className} ${it.textContent.trim().slice(0, 60)}`)"""

APART = """[...document.querySelectorAll(".btn > .icon")]
    .filter(it => it.checkVisibility())
    .map(it => [it.parentElement, it.getBoundingClientRect(), it.parentElement.getBoundingClientRect()])
    .filter(([, icon, button]) => Math.abs(icon.top + icon.bottom - button.top - button.bottom) > 4)
    .map(([button]) => button.textContent.trim())"""


def test_on_every_page_hostile_text_stays_text_and_fits_a_small_phone(
    hostile: Hostile, cast: Cast, page: Page, watch: Any, live_hub: str
) -> None:
    wide: dict[str, list[str]] = {}
    watch.expected = ("400", "404", "410")
    for name, shown in visit_all(page, hostile, cast, live_hub):
        shown.wait_for_load_state("networkidle")
        assert shown.evaluate("window.pwned") is None, name
        assert shown.locator("#pwned, img[src=x], main svg[onload]").count() == 0, name
        links = shown.eval_on_selector_all("a[href]", PROTOCOLS)
        assert set(links) <= {"http:", "https:", "mailto:"}, name
        assert "\u202e" not in shown.inner_text("main"), name
        assert shown.evaluate(APART) == [], f"{name}: an icon stands above or below what its button says"
        shown.set_viewport_size(NARROW)
        shown.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if shown.evaluate(WIDTH) > NARROW["width"]:
            wide[name] = shown.evaluate(WIDER)
        shown.set_viewport_size(WIDE)
    assert wide == {}


def test_the_administration_breaks_no_content_policy(
    hostile: Hostile, cast: Cast, page: Page, live_hub: str
) -> None:
    sign_in(page.context, cast.owner, live_hub)
    page.goto("/admin/")
    page.locator(".accounts button").first.click()
    page.wait_for_load_state()
    names = page.eval_on_selector_all("th[scope=row] a", "links => links.map(link => link.pathname)")
    assert len(names) == len(admin.site._registry)
    for address in names:
        page.goto(address)
        first = page.locator("#result_list th a").first
        if first.count():
            first.click()
            page.wait_for_load_state()
    assert page.evaluate("window.pwned") is None


def test_the_first_load_is_light(cast: Cast, page: Page, live_hub: str) -> None:
    """Counted as it goes over the wire."""
    requests: list[Any] = []
    sign_in(page.context, cast.owner, live_hub)
    page.on("requestfinished", lambda request: requests.append(request))
    page.goto("/a/acme/main/inbox/", wait_until="networkidle")
    kinds = ("document", "stylesheet", "script")
    sizes = {one.url: one.sizes()["responseBodySize"] for one in requests if one.resource_type in kinds}
    print(f"first load: {sum(sizes.values()) / 1024:.1f} KB in {len(sizes)} files")
    assert len(sizes) >= 5
    assert sum(sizes.values()) <= 120 * 1024


def test_the_appearance_is_remembered_with_and_without_scripts(
    cast: Cast, page: Page, plain_page: Page, live_hub: str
) -> None:
    page.set_viewport_size(WIDE)
    for shown in (page, plain_page):
        shown.goto("/accounts/login/")
        shown.get_by_role("button", name="Dark").click()
        expect(shown.locator("html")).to_have_attribute("data-theme", "dark")
        shown.goto("/accounts/login/")
        expect(shown.locator("html")).to_have_attribute("data-theme", "dark")
        shown.get_by_role("button", name="As the system").click()
        expect(shown.locator("html:not([data-theme])")).to_be_attached()
        shown.goto("/accounts/login/")
        expect(shown.locator("html:not([data-theme])")).to_be_attached()
