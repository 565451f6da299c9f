"""A real browser on a real server, every page watched: no error, nothing refused, nothing from elsewhere."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from accounts.actor import Actor
from accounts.models import User
from accounts.views.fresh import JOINED_AT
from tests.live import live_hub, live_process

__all__ = ["live_hub", "live_process"]

# Playwright's synchronous interface keeps an event loop running in this thread.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 740}
VIOLATIONS = """
    document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`refused ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watch:
    """What pages complained about, and what they asked for from other places."""

    home: str
    complaints: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def over(self, page: Page) -> Page:
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", lambda message: self.hear(message.type, message.text))
        page.on("request", lambda request: self.see(request.url))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        return page

    def hear(self, kind: str, text: str) -> None:
        if kind == "error" and not any(part in text for part in self.expected):
            self.complaints.append(text)

    def see(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.home).netloc:
            self.complaints.append(f"request to {url}")


@pytest.fixture
def watch(live_hub: str) -> Iterator[Watch]:
    watching = Watch(live_hub)
    yield watching
    assert watching.complaints == []


def open_context(chromium: Browser, live_hub: str, **options: object) -> BrowserContext:
    context = chromium.new_context(base_url=live_hub, **{"viewport": WIDE, "locale": "en-GB", **options})
    context.set_default_timeout(8_000)
    context.add_init_script(VIOLATIONS)
    return context


def sign_in(context: BrowserContext, person: Actor, live_hub: str) -> None:
    """A session as signing in makes one, without the form."""
    client = Client()
    client.force_login(
        User.objects.get(id=person.user_id), "allauth.account.auth_backends.AuthenticationBackend"
    )
    session = client.session
    session[JOINED_AT] = time.time()
    session.save()
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": "memoryhub", "value": cookie.value, "url": live_hub}])


@pytest.fixture
def context(chromium: Browser, live_hub: str, watch: Watch) -> Iterator[BrowserContext]:
    opened = open_context(chromium, live_hub)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Page:
    return watch.over(context.new_page())


@pytest.fixture
def plain_page(chromium: Browser, live_hub: str, watch: Watch) -> Iterator[Page]:
    """A browser that runs no scripts."""
    opened = open_context(chromium, live_hub, java_script_enabled=False)
    yield watch.over(opened.new_page())
    opened.close()
