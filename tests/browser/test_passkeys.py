"""Passkeys of an authenticator that the browser itself plays: registered, signed in with, and ended."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import BrowserContext, CDPSession, Page, expect

from tests.browser.conftest import sign_in
from tests.conftest import Cast

pytestmark = pytest.mark.django_db(transaction=True)

PLATFORM = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def device(context: BrowserContext, page: Page) -> tuple[CDPSession, str]:
    """An authenticator with a screen lock, which its person opens when asked."""
    cdp = context.new_cdp_session(page)
    cdp.send("WebAuthn.enable", {"enableUI": False})
    options = {**PLATFORM, "isUserVerified": True}
    return cdp, cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]


def register(page: Page, *, passkey: bool = True) -> None:
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Name").fill("My laptop")
    if passkey:
        page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()


def sign_out(context: BrowserContext, page: Page) -> None:
    context.clear_cookies()
    page.goto("/a/acme/main/inbox/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_passkey_is_registered_and_signs_in_without_a_password(
    cast: Cast, context: BrowserContext, page: Page, live_hub: str, device: tuple[CDPSession, str]
) -> None:
    sign_in(context, cast.owner, live_hub)
    register(page)
    cdp, authenticator = device
    [credential] = cdp.send("WebAuthn.getCredentials", {"authenticatorId": authenticator})["credentials"]
    assert (credential["isResidentCredential"], credential["rpId"]) == (True, "localhost")
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_role("row", name="My laptop")).to_contain_text("passkey")
    sign_out(context, page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    kept = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    assert (kept.user_id, kept.last_used_at is not None) == (cast.owner.user_id, True)


def test_a_passkey_shows_again_who_one_is_before_a_key_is_made(
    cast: Cast, context: BrowserContext, page: Page, live_hub: str, device: Any
) -> None:
    sign_in(context, cast.owner, live_hub)
    register(page)
    sign_out(context, page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.goto("/a/acme/keys/new/")
    expect(page.get_by_role("heading", name="New key")).to_be_visible()


def test_an_unlocked_device_of_nobody_signs_nobody_in(
    cast: Cast, context: BrowserContext, page: Page, live_hub: str, device: tuple[CDPSession, str]
) -> None:
    """Whose screen lock stays shut proves nothing; neither does a passkey that was removed here."""
    sign_in(context, cast.owner, live_hub)
    register(page)
    Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).delete()
    sign_out(context, page)
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    page.goto("/a/acme/main/inbox/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_security_key_is_the_second_step_after_the_password(
    cast: Cast, context: BrowserContext, page: Page, live_hub: str, device: Any
) -> None:
    sign_in(context, cast.owner, live_hub)
    register(page, passkey=False)
    sign_out(context, page)
    page.get_by_label("Email").fill("owner@acme.example")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="The second step")).to_be_visible()
    page.get_by_role("button", name="Use a passkey or security key").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
