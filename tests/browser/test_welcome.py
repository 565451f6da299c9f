import json
import urllib.request
from typing import Any

from playwright.sync_api import Page, expect

from accounts.actor import system_actor
from accounts.domain.invitations import invite
from accounts.models import Account, User
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from tests.browser.conftest import sign_in
from tests.browser.test_pages import axe_faults
from tests.conftest import Cast, make_team


def test_the_first_owner_comes_in_makes_a_key_and_sees_the_agent_call(page: Page, live_hub: str) -> None:
    account, _space = make_team("My team")
    with tenant(account.id):
        token = invite(system_actor(account.id), Role.OWNER).token
    page.goto(f"/welcome/{token}/")
    page.get_by_label("Your name").fill("Mira Okafor")
    page.get_by_label("E-mail").fill("mira@northwind.example")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_label("Team").fill("Northwind")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="A key for your agent")).to_be_visible()
    assert Account.objects.get(id=account.id).name == "Northwind"
    assert User.objects.get().email == "mira@northwind.example"

    page.get_by_label("Name").fill("Claude Code")
    page.get_by_role("button", name="Make the key").click()
    secret = page.locator("#secret").inner_text()
    for client in ("claude-code", "cursor", "vs-code", "chatgpt"):
        assert secret in page.locator(f"#{client}").text_content()
    assert json.loads(page.locator("#cursor").text_content())["mcpServers"]["memory-hub"]["url"].endswith(
        "/mcp"
    )
    expect(page.get_by_text("Waiting for your agent’s first call…")).to_be_visible()
    assert axe_faults(page) == []

    call = urllib.request.Request(f"{live_hub}/v1/whoami", headers={"Authorization": f"Bearer {secret}"})
    with urllib.request.urlopen(call) as answer:
        assert answer.status == 200
    expect(page.get_by_text("Your agent called.")).to_be_visible()

    page.goto("/a/my-team/keys/")
    expect(page.get_by_role("cell", name="Claude Code mh_live_")).to_be_visible()
    assert secret not in page.content()


def test_a_key_is_revoked_after_a_second_look(cast: Cast, page: Page, live_hub: str) -> None:
    sign_in(page.context, cast.owner, live_hub)
    page.goto("/a/acme/keys/")
    page.locator("summary", has_text="Revoke").click()
    page.get_by_role("button", name="Revoke now").click()
    expect(page.get_by_text("“agent” is revoked. It stops working now.")).to_be_visible()
    expect(page.get_by_text("1 ended key")).to_be_visible()


def test_a_person_signs_in_and_out(cast: Cast, page: Page, watch: Any, live_hub: str) -> None:
    page.goto("/a/acme/main/inbox/")
    page.get_by_label("Email").fill("owner@acme.example")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.locator(".side summary", has_text="Owner").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
