"""Signing in at a vendor with a real browser: there, back, and away again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from actions.domain.connections import list_connections
from memoryhub.common.tenancy import tenant
from tests.browser.conftest import open_context, sign_in
from tests.browser.hands import Hands
from tests.conftest import Cast
from tests.live import running_server
from tests.vendors.authorities import AUTHORITIES, CLIENT, SECRET
from tests.vendors.fixtures import running_vendors

LIST = "/a/acme/connections/"


@pytest.fixture
def hub(transactional_db: None) -> Iterator[str]:
    """A hub that is known at vendors of its own."""
    with running_vendors("") as servers:
        environment = {f"{name.upper()}_URL": server.address for name, server in servers.items()}
        for vendor in AUTHORITIES:
            environment |= {f"{vendor.upper()}_CLIENT_ID": CLIENT, f"{vendor.upper()}_CLIENT_SECRET": SECRET}
        with running_server(**environment) as url:
            for server in servers.values():
                assert server.vendor.authority is not None
                server.vendor.authority.callback = (
                    f"{url}/connections/callback/{server.vendor.authority.vendor}/"
                )
            yield url


@pytest.fixture(params=["with scripts", "without scripts"])
def hands(request, chromium: Browser, hub: str) -> Iterator[Hands]:
    scripts = request.param == "with scripts"
    context = open_context(chromium, hub, java_script_enabled=scripts)
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    person = Hands(page, scripts)
    yield person
    context.close()
    assert person.faults + complaints == []


def test_a_person_with_a_keyboard_alone_connects_every_vendor_and_disconnects_it(
    cast: Cast, hands: Hands, hub: str
) -> None:
    sign_in(hands.page.context, cast.owner, hub)
    for vendor, name in {
        "slack": "Slack",
        "google": "Google",
        "github": "GitHub",
        "notion": "Notion",
    }.items():
        hands.goes_to(LIST)
        hands.follows(f"Connect with {name}")
        hands.sees(f"Sign in with {name}")
        hands.follows(f"Continue to {name}")
        hands.sees(f"{name} is connected as")
        with tenant(cast.account.id):
            assert [c.vendor for c in list_connections(cast.owner)] == [vendor]
        hands.presses(f"Check {name}")
        hands.sees("It works.")
        hands.presses_on(hands.page.get_by_label(f"Disconnect {name}").first)
        hands.presses("Disconnect now")
        hands.sees(f"{name} is disconnected, here and there.")


def test_the_way_back_is_taken_once(cast: Cast, hands: Hands, hub: str) -> None:
    sign_in(hands.page.context, cast.owner, hub)
    hands.goes_to(f"{LIST}new/github/")
    with hands.page.expect_request(lambda request: "/connections/callback/" in request.url) as back:
        hands.follows("Continue to GitHub")
    hands.sees("GitHub is connected as")
    answer = hands.page.context.request.get(back.value.url)
    assert answer.status == 409
    assert "taken up already" in answer.text()
