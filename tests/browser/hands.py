"""A person who has a keyboard and a small screen. What can't be reached with Tab can't be used."""

from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NARROW
from tests.browser.test_pages import axe_faults

FAR = 120
INERT = 600  # milliseconds, in which what decides takes no key


@dataclass
class Hands:
    """`faults` is what stood out on the pages that were passed: what axe finds, and what is wider than the screen."""

    page: Page
    scripts: bool
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_viewport_size(NARROW)
        self.page.emulate_media(color_scheme="dark" if self.scripts else "light", reduced_motion="reduce")

    def goes_to(self, address: str) -> None:
        self.page.goto(address)
        self.looks()

    def sees(self, text: str) -> None:
        expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible()
        self.looks()

    def looks(self) -> None:
        """What was just done is told above the page; what lies under that can't be decided."""
        if self.page.evaluate("document.documentElement.scrollWidth") > NARROW["width"]:
            self.faults.append(f"{self.page.url} is too wide")
        if self.scripts:
            self.page.wait_for_load_state("networkidle")
            self.page.evaluate("document.querySelectorAll('.flash').forEach(it => it.remove())")
            self.faults += axe_faults(self.page)

    def reaches(self, target: Locator) -> None:
        expect(target).to_be_attached()
        for _ in range(FAR):
            if target.evaluate("it => it === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}.")

    def presses(self, name: str, role: str = "button") -> None:
        """In `main`: one that the name says exactly, and that is not within anything closed."""
        target = self.page.locator("main").get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
        self.presses_on(target)

    def presses_on(self, target: Locator) -> None:
        self.reaches(target)
        if target.evaluate("it => it.matches('.guarded')"):
            self.page.wait_for_timeout(INERT)
        self.page.keyboard.press("Enter")

    def follows(self, name: str) -> None:
        self.presses(name, "link")

    def unfolds(self, words: str) -> None:
        self.presses_on(self.page.locator("main summary", has_text=words).first)

    def writes(self, label: str, text: str) -> None:
        target = self.page.locator("main").get_by_label(label).locator("visible=true").first
        self.reaches(target)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def ticks(self, label: str) -> None:
        self.reaches(self.page.locator("main").get_by_label(label).first)
        self.page.keyboard.press("Space")

    def chooses(self, label: str, option: str) -> None:
        """Of a list, by typing what it begins with."""
        self.reaches(self.page.locator("main").get_by_label(label).locator("visible=true").first)
        self.page.keyboard.type(option)
