import re
from datetime import timedelta
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.actor import Actor
from accounts.scopes import Role
from actions.domain.actions import access_action
from actions.domain.digests import consent_digest
from actions.domain.inbox import count_inbox
from actions.domain.snoozing import snooze_action
from actions.domain.transitions import transition_action
from actions.models import Action, ActionRevision
from memoryhub.common.canonical import canonical_json
from memoryhub.common.tenancy import tenant
from spaces.domain.members import set_space_role
from tests.actions.stage import proposed
from tests.browser.conftest import sign_in
from tests.conftest import Cast

INBOX = "/a/acme/main/inbox/"


def propose(cast: Cast, **fields: Any) -> Action:
    with tenant(cast.account.id):
        return proposed(cast, **fields)


def move(actor: Actor, action: Action, start: str, to: str, **more: Any) -> None:
    with tenant(actor.account_id):
        transition_action(actor, action.uid, start, to, **more)


def status_of(cast: Cast, action: Action) -> str:
    with tenant(cast.account.id):
        return access_action(cast.owner, action.uid).status


def revise(cast: Cast, action: Action, payload: dict[str, Any]) -> None:
    """A second revision, as an edit would store it."""
    with tenant(cast.account.id):
        stored = access_action(cast.owner, action.uid)
        stored.revision = 2
        revision = ActionRevision(
            account_id=stored.account_id,
            space_id=stored.space_id,
            action=stored,
            number=2,
            summary=stored.current.summary,
            payload_json=canonical_json(payload).decode(),
            preconditions_json="{}",
            expires_at=stored.expires_at,
            written_by=stored.current.written_by,
            created_at=stored.created_at,
        )
        revision.digest = consent_digest(stored, revision)
        revision.save(force_insert=True)
        stored.save(update_fields=["revision"])


def test_an_action_appears_is_approved_and_carried_out_without_the_page_reloading(
    cast: Cast, page: Page, live_hub: str
) -> None:
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    expect(page.locator("[data-live-state]").first).to_have_attribute("data-live-state", "live")
    page.evaluate("window.sameDocument = true")
    action = propose(cast)

    page.get_by_role("link", name="chat.send").click()
    pane = page.locator("#inbox-pane")
    expect(pane.get_by_role("heading", name="What will happen")).to_be_visible()
    page.wait_for_timeout(600)
    pane.get_by_role("button", name="Approve").click()
    expect(pane.get_by_text("Approved by Approver")).to_be_visible()
    expect(pane.get_by_role("button", name="Approve")).to_have_count(0)
    assert status_of(cast, action) == "approved"

    move(cast.agent, action, "approved", "executing")
    expect(pane.get_by_text("Being carried out")).to_be_visible()
    move(cast.agent, action, "executing", "done", receipt={"message": "1733.42"})
    expect(pane.get_by_text("1733.42")).to_be_visible()
    assert page.evaluate("window.sameDocument") is True


def test_new_actions_wait_behind_a_button_and_move_nothing(cast: Cast, page: Page, live_hub: str) -> None:
    first = propose(cast, summary="the first")
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    expect(page.locator("[data-live-state]").first).to_have_attribute("data-live-state", "live")
    before = page.locator("[data-row]").first.bounding_box()
    propose(cast)
    propose(cast)
    expect(page.get_by_role("button", name="2 new")).to_be_visible()
    assert page.locator("[data-row]").count() == 1
    assert page.locator("[data-row]").first.bounding_box() == before
    assert page.title().startswith("(3) ")

    move(cast.approver, first, "pending", "rejected")
    expect(page.locator("[data-row=A1]")).to_have_class(re.compile(r"\bsettled\b"))
    page.keyboard.press("u")
    expect(page.locator("[data-row]")).to_have_count(2)


def test_the_count_in_the_title_and_beside_the_inbox_is_what_waits_for_the_person(
    cast: Cast, page: Page, live_hub: str
) -> None:
    waiting = page.locator("nav [data-waiting]").first

    def told(number: int) -> None:
        expect(page).to_have_title(re.compile(rf"^\({number}\) " if number else r"^(?!\()"))
        expect(waiting).to_have_text(str(number)) if number else expect(waiting).to_be_hidden()
        with tenant(cast.account.id):
            assert count_inbox(cast.approver.in_space("main"), ["needs_you"]) == {"needs_you": number}

    actions = [propose(cast) for _ in range(2)]
    sign_in(page.context, cast.approver, live_hub)
    page.goto("/a/acme/main/memories/")
    told(2)
    expect(page.locator("[data-live-state]").first).to_have_attribute("data-live-state", "live")
    actions.append(propose(cast))
    told(3)
    move(cast.owner, actions[0], "pending", "rejected")
    told(2)
    with tenant(cast.account.id):
        snooze_action(cast.owner, actions[1].uid, until=timezone.now() + timedelta(hours=1))
    told(1)
    page.goto("/a/acme/keys/")
    told(1)
    page.goto("/a/acme/main/memories/")
    with tenant(cast.account.id):
        set_space_role(cast.owner, cast.approver.user_id, Role.VIEWER, space="main")
    told(0)


def test_a_person_approves_without_scripts(cast: Cast, plain_page: Page, live_hub: str) -> None:
    action = propose(cast)
    sign_in(plain_page.context, cast.approver, live_hub)
    plain_page.goto(INBOX)
    plain_page.get_by_role("link", name="chat.send").click()
    plain_page.wait_for_timeout(600)
    plain_page.get_by_role("button", name="Approve").click()
    expect(plain_page.get_by_text("Approved. Its agent can take it up now.")).to_be_visible()
    assert status_of(cast, action) == "approved"


def test_a_person_rejects_with_a_reason_without_scripts(cast: Cast, plain_page: Page, live_hub: str) -> None:
    action = propose(cast)
    sign_in(plain_page.context, cast.approver, live_hub)
    plain_page.goto("/a/acme/main/actions/A1/")
    plain_page.locator("summary", has_text="Reject").click()
    plain_page.get_by_label("Why not?").fill("Not before Thursday")
    plain_page.locator(".reject-body").get_by_role("button", name="Reject").click()
    expect(plain_page.get_by_text("Not before Thursday")).to_be_visible()
    assert status_of(cast, action) == "rejected"


def test_everything_is_decided_by_keyboard(cast: Cast, page: Page, live_hub: str) -> None:
    rejected, approved = propose(cast), propose(cast)
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.locator("#inbox-pane #action-title")).to_be_visible()
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    expect(page.locator("#inbox-pane").get_by_text("Approved by Approver")).to_be_visible()
    assert status_of(cast, approved) == "approved"

    page.locator("[data-row=A2] [data-item]").focus()
    page.keyboard.press("j")
    expect(page.locator("#inbox-pane .short")).to_have_text("A1")
    page.wait_for_timeout(600)
    page.keyboard.press("r")
    expect(page.get_by_label("Why not?")).to_be_focused()
    page.keyboard.type("No, a thousand times")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#inbox-pane").get_by_text("No, a thousand times")).to_be_visible()
    assert status_of(cast, rejected) == "rejected"

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("v")
    expect(page).to_have_url(f"{live_hub}/a/acme/main/values/")


def test_single_letters_can_be_switched_off(cast: Cast, page: Page, live_hub: str) -> None:
    propose(cast)
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    page.keyboard.press("?")
    page.get_by_role("button", name="Switch single-letter shortcuts off").click()
    expect(page.locator("body")).to_have_attribute("data-shortcuts", "off")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('[data-item]')") is False


def test_a_click_in_the_first_half_second_decides_nothing(cast: Cast, page: Page, live_hub: str) -> None:
    action = propose(cast)
    sign_in(page.context, cast.approver, live_hub)
    page.goto("/a/acme/main/actions/A1/", wait_until="domcontentloaded")
    page.evaluate("document.querySelector('[data-key=a]').click()")
    page.wait_for_load_state("networkidle")
    assert status_of(cast, action) == "pending"
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    expect(page.get_by_text("Approved by Approver")).to_be_visible()


def test_what_changed_after_it_was_shown_is_not_approved_but_shown_anew(
    cast: Cast, page: Page, watch: Any, live_hub: str
) -> None:
    watch.expected = ("409",)
    action = propose(cast, payload={"amount": 82, "to": "ana@example.com"})
    sign_in(page.context, cast.approver, live_hub)
    page.goto("/a/acme/main/actions/A1/")
    revise(cast, action, {"amount": 8200, "to": "ana@example.com"})
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("It changed after you opened it, so nothing was decided.")).to_be_visible()
    expect(page.locator("#action del")).to_have_text("82")
    expect(page.locator("#action ins")).to_have_text("8200")
    assert status_of(cast, action) == "pending"
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Approved by Approver")).to_be_visible()


def test_who_may_not_decide_is_told_why_and_has_no_buttons(cast: Cast, page: Page, live_hub: str) -> None:
    propose(cast)
    sign_in(page.context, cast.viewer, live_hub)
    page.goto("/a/acme/main/actions/A1/")
    expect(page.get_by_text("Deciding needs the role owner or approver")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_signing_out_ends_the_page_of_another_tab(cast: Cast, page: Page, watch: Any, live_hub: str) -> None:
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    expect(page.locator("[data-live-state]").first).to_have_attribute("data-live-state", "live")
    other = watch.over(page.context.new_page())
    other.goto(INBOX)
    other.locator(".side summary", has_text="Approver").click()
    other.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_several_are_chosen_by_keyboard_and_decided_on_together(
    cast: Cast, page: Page, live_hub: str
) -> None:
    first, other, last = propose(cast), propose(cast, class_name="deploy.run"), propose(cast)
    sign_in(page.context, cast.approver, live_hub)
    page.goto(INBOX)
    expect(page.get_by_role("button", name="Decide on the chosen")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_label("Choose A3")).to_be_checked()
    expect(page.get_by_label("Choose A2")).to_be_disabled()
    page.locator("[data-row=A1] [data-item]").focus()
    page.keyboard.press("x")
    page.get_by_role("button", name="Decide on the chosen").press("Enter")
    expect(page.get_by_role("heading", name="Decide together")).to_be_visible()
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Approve the chosen").press("Enter")
    expect(page.get_by_role("cell", name="approved")).to_have_count(2)
    assert [status_of(cast, one) for one in (first, other, last)] == ["approved", "pending", "approved"]


def test_several_are_chosen_and_rejected_without_scripts(cast: Cast, plain_page: Page, live_hub: str) -> None:
    first, last = propose(cast), propose(cast)
    sign_in(plain_page.context, cast.approver, live_hub)
    plain_page.goto(INBOX)
    plain_page.get_by_label("Choose A1").check()
    plain_page.get_by_label("Choose A2").check()
    plain_page.get_by_role("button", name="Decide on the chosen").click()
    plain_page.get_by_role("button", name="Reject the chosen").click()
    expect(plain_page.get_by_role("cell", name="rejected")).to_have_count(2)
    assert [status_of(cast, one) for one in (first, last)] == ["rejected", "rejected"]


def test_an_action_is_put_off_and_taken_up_again_without_a_complaint_of_the_browser(
    cast: Cast, page: Page, live_hub: str
) -> None:
    action = propose(cast)
    sign_in(page.context, cast.approver, live_hub)
    page.goto(f"/a/acme/main/actions/{action.short_id}/")
    page.locator("summary", has_text="Snooze").click()
    page.get_by_role("button", name="4 hours").click()
    expect(page.get_by_text("Put off by Approver")).to_be_visible()
    page.get_by_role("button", name="Take it up again").click()
    expect(page.get_by_text("Taken up again by Approver")).to_be_visible()
