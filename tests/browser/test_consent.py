"""Letting a client in, in a real browser: the page's own policy has to let its answer lead on to the client."""

import pytest
from playwright.sync_api import BrowserContext

from accounts.models import Grant
from tests.browser.conftest import sign_in
from tests.clients.person import listening
from tests.conftest import Cast
from tests.oauth import visitor


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize(("button", "answer"), [("Allow", "code="), ("Don’t allow", "error=access_denied")])
def test_the_answer_leads_on_to_the_client(
    live_hub: str, cast: Cast, context: BrowserContext, host: str, button: str, answer: str
) -> None:
    client = visitor(redirect_uris=[f"http://{host}/callback"])
    sign_in(context, cast.teammate, live_hub)
    page = context.new_page()
    with listening(lambda path: "{}") as port:
        back = f"http://{host}:{port}/callback"
        page.goto(client.question(redirect_uri=back, resource=f"{live_hub}/mcp"))
        page.wait_for_timeout(600)  # what decides is inert at first
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_url(f"{back}?*")
        assert answer in page.url
        assert "state=s-1" in page.url
    assert Grant.objects.exists() is (answer == "code=")
