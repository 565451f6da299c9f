"""What is meant to deceive is shown for what it is: nothing hidden, nothing executed, what is odd marked."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from actions.models import Action
from memoryhub.common.tenancy import tenant
from tests.actions.stage import proposed
from tests.browser.conftest import NARROW, WIDE, sign_in
from tests.browser.deceptive import Deceit, deceits
from tests.conftest import Cast

AT_ONCE = 20
SEEN_FORMATS = {"\n", "\t"}

# Each text of a payload, read back from what is drawn: a marked character by the code that stands for it.
READ = """
(places) => places.map((place) => {
  const read = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.classList.contains("odd") ? String.fromCodePoint(parseInt(node.textContent.slice(2), 16))
    : [...node.childNodes].map(read).join("");
  const bare = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.classList.contains("odd") ? "" : [...node.childNodes].map(bare).join("");
  const drawn = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
      && box.width > 1 && box.height > 1 && parseFloat(style.fontSize) > 8 && box.left >= 0
      && box.right <= document.documentElement.clientWidth + 1;
  };
  const cut = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      const clips = /hidden|clip/.test(style.overflowX + style.overflowY) || style.webkitLineClamp !== "none";
      if (clips && (at.scrollWidth > at.clientWidth + 1 || at.scrollHeight > at.clientHeight + 1)) return true;
    }
    return false;
  };
  const values = [...place.querySelectorAll("dl.facts > dd > .text")];
  const names = [...place.querySelectorAll("dl.facts > dt")];
  const marks = [...place.querySelectorAll("dl.facts .odd")];
  return {
    values: values.map(read), names: names.map(read), bare: [...values, ...names].map(bare).join(""),
    unseen: [...values, ...names].filter((e) => e.textContent.trim() && !drawn(e)).length
      + marks.filter((e) => !drawn(e)).length + [...values, ...names].filter(cut).length,
    warned: place.querySelectorAll(".checks .bad").length,
  };
})
"""


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def hides(character: str) -> bool:
    """Told by Unicode alone, without the code's own table."""
    return character not in SEEN_FORMATS and unicodedata.category(character) in ("Cc", "Cf", "Co", "Zl", "Zp")


def faults(deceit: Deceit, shown: dict[str, Any]) -> list[str]:
    found = []
    if sorted(shown["values"]) != sorted(texts(deceit.payload)):
        found.append("not all of it is there as it is")
    if any(map(hides, shown["bare"])):
        found.append("a character that hides is not marked")
    if shown["unseen"]:
        found.append(f"{shown['unseen']} texts or marks are not drawn, or cut")
    if deceit.warned and not shown["warned"]:
        found.append("no warning")
    return found


@pytest.fixture
def corpus(cast: Cast) -> list[tuple[Deceit, Action]]:
    with tenant(cast.account.id):
        return [
            (
                deceit,
                proposed(cast, class_name=f"chat.send-{n // AT_ONCE}", payload=deceit.payload, summary="S"),
            )
            for n, deceit in enumerate(deceits())
        ]


def test_of_more_than_120_deceptive_payloads_nothing_is_hidden_and_nothing_executed(
    cast: Cast, page: Page, live_hub: str, corpus: list[tuple[Deceit, Action]]
) -> None:
    """All are on the pages that decide on many at once, wide and on a small phone; one of each kind on its own page."""
    page.set_default_timeout(60_000)
    assert len(corpus) >= 120
    sign_in(page.context, cast.approver, live_hub)
    kinds = {deceit.kind: (deceit, action) for deceit, action in corpus}
    wrong: dict[str, list[str]] = {}
    for start in range(0, len(corpus), AT_ONCE):
        there = f"/a/acme/main/inbox/together/?class=chat.send-{start // AT_ONCE}"
        look(page, there, "section.together", corpus[start : start + AT_ONCE][::-1], wrong)
    for deceit, action in kinds.values():
        look(page, f"/a/acme/main/actions/{action.short_id}/", "#action .preview", [(deceit, action)], wrong)
    print(f"{len(corpus)} deceptive payloads of {len(kinds)} kinds: nothing hidden, nothing executed")
    assert wrong == {}


def look(
    page: Page, there: str, place: str, expected: list[tuple[Deceit, Action]], wrong: dict[str, list[str]]
) -> None:
    page.set_viewport_size(WIDE)
    page.goto(there)
    page.wait_for_load_state("networkidle")
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        shown = page.eval_on_selector_all(place, READ)
        for (deceit, action), one in zip(expected, shown, strict=True):
            if found := faults(deceit, one):
                wrong[f"{action.short_id} {deceit.kind} {size['width']} {str(deceit.payload)[:60]!a}"] = found
        if page.evaluate("document.documentElement.scrollWidth") > size["width"]:
            wrong[f"{there} at {size['width']}"] = ["it is wider than the window"]
    assert page.evaluate("window.pwned") is None
    assert page.locator("#pwned").count() == 0
