"""What people come for, each from its beginning to its end by keyboard alone on a phone's width: with scripts in the
dark, where axe looks at every page passed, and without scripts in the light."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from actions.models import Policy
from memoryhub.common.tenancy import tenant
from spaces.domain.capture import Said, capture
from spaces.domain.spaces import Settings, update_space
from tests.browser.conftest import Watch, open_context, sign_in
from tests.browser.hands import Hands
from tests.browser.test_approving import propose, status_of
from tests.conftest import Cast

SPACE, TEAM = "/a/acme/main", "/a/acme"


@pytest.fixture(params=["with scripts", "without scripts"])
def hands(request, chromium: Browser, live_hub: str, watch: Watch) -> Iterator[Hands]:
    scripts = request.param == "with scripts"
    context = open_context(chromium, live_hub, java_script_enabled=scripts)
    person = Hands(watch.over(context.new_page()), scripts)
    yield person
    context.close()
    assert person.faults == []


Flow = Callable[[Hands, Cast], None]
FLOWS: list[Flow] = []


def flow(steps: Flow) -> Flow:
    FLOWS.append(steps)
    return steps


@flow
def approves(hands: Hands, cast: Cast) -> None:
    action = propose(cast)
    hands.goes_to(f"{SPACE}/inbox/")
    hands.presses_on(hands.page.locator("[data-row=A1] [data-item]"))
    hands.sees("What will happen")
    hands.presses("Approve")
    hands.sees("Approved by Owner")
    assert status_of(cast, action) == "approved"


@flow
def rejects_with_a_reason(hands: Hands, cast: Cast) -> None:
    action = propose(cast)
    hands.goes_to(f"{SPACE}/actions/A1/")
    hands.unfolds("Reject")
    hands.writes("Why not?", "Not before Thursday")
    hands.presses_on(hands.page.locator(".reject-body").get_by_role("button", name="Reject"))
    hands.sees("Not before Thursday")
    assert status_of(cast, action) == "rejected"


@flow
def edits_and_approves(hands: Hands, cast: Cast) -> None:
    action = propose(cast)
    hands.goes_to(f"{SPACE}/actions/A1/")
    hands.presses_on(hands.page.locator(".decide").get_by_role("link", name="Edit"))
    hands.sees("What you save is a new revision.")
    hands.writes("Payload", '{"channel": "#launch", "text": "Tomorrow."}')
    hands.presses("Save and read it anew")
    hands.sees("Against revision 1")
    hands.presses("Approve")
    hands.sees("Approved by Owner")
    assert status_of(cast, action) == "approved"


@flow
def snoozes(hands: Hands, cast: Cast) -> None:
    propose(cast)
    hands.goes_to(f"{SPACE}/actions/A1/")
    hands.unfolds("Snooze")
    hands.presses("4 hours")
    hands.sees("Take it up again")
    hands.goes_to(f"{SPACE}/inbox/?tab=snoozed")
    hands.sees("A1")


@flow
def decides_on_several(hands: Hands, cast: Cast) -> None:
    first, last = propose(cast), propose(cast)
    hands.goes_to(f"{SPACE}/inbox/")
    hands.ticks("Choose A2")
    hands.ticks("Choose A1")
    hands.reaches(hands.page.get_by_role("button", name="Decide on the chosen"))
    hands.page.keyboard.press("Enter")
    hands.sees("Decide together")
    hands.presses("Approve the chosen")
    expect(hands.page.locator("td", has_text="approved")).to_have_count(2)
    hands.looks()
    assert [status_of(cast, one) for one in (first, last)] == ["approved", "approved"]


@flow
def makes_a_key_and_revokes_it(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{TEAM}/keys/new/")
    hands.writes("Name", "Night shift")
    hands.presses("Make the key")
    hands.sees("Give it to your agent")
    assert hands.page.locator("#secret").inner_text().startswith("mh_live_")
    hands.goes_to(f"{TEAM}/keys/")
    row = hands.page.locator("tr", has_text="Night shift")
    hands.presses_on(row.locator("summary", has_text="Revoke"))
    hands.presses_on(row.get_by_role("button", name="Revoke now"))
    hands.sees("“Night shift” is revoked.")


@flow
def remembers_finds_and_changes(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/memories/new/")
    hands.writes("Statement", "The deploy window is Tuesday at two")
    hands.presses("Save")
    hands.sees("Where it comes from")
    hands.sees("The deploy window is Tuesday at two")
    hands.goes_to(f"{SPACE}/memories/?q=deploy+window")
    hands.presses_on(hands.page.locator("main").get_by_role("link", name="The deploy window").first)
    hands.sees("Where it comes from")
    hands.unfolds("Edit")
    hands.writes("Statement", "The deploy window is Wednesday at two")
    hands.presses("Save")
    hands.sees("Saved.")
    hands.sees("The deploy window is Wednesday at two")


@flow
def forgets_after_a_look(hands: Hands, cast: Cast) -> None:
    remembers_finds_and_changes(hands, cast)
    hands.goes_to(f"{SPACE}/forget/?query=deploy+window&scopes=memories")
    hands.sees("1 row would be forgotten")
    hands.writes("to confirm", "forget")
    hands.presses("Forget for good")
    hands.sees("1 row is forgotten.")
    hands.goes_to(f"{SPACE}/memories/?q=deploy+window")
    expect(hands.page.get_by_text("Wednesday at two")).to_have_count(0)


@flow
def writes_into_the_journal(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/journal/new/")
    hands.writes("Summary", "We shipped the search")
    hands.writes("Decisions", "Ship on Wednesdays")
    hands.presses("Save")
    hands.sees("We shipped the search")


@flow
def keeps_a_record(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/records/new/")
    hands.writes("Collection", "leads")
    hands.writes("Key", "acme-77")
    hands.writes("Data", '{"stage": "first call"}')
    hands.presses("Save")
    hands.sees("first call")
    hands.unfolds("Edit")
    hands.writes("Data", '{"stage": "second call"}')
    hands.presses("Save")
    hands.sees("Saved.")
    hands.sees("second call")


@flow
def changes_a_plan_and_restores_it(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/plans/new/")
    hands.writes("Title", "Launch")
    hands.writes("Text", "Ship on Tuesday")
    hands.presses("Save")
    hands.sees("Ship on Tuesday")
    hands.unfolds("Edit")
    hands.writes("Text", "Ship on Friday")
    hands.presses("Save")
    hands.sees("Saved.")
    hands.sees("Ship on Friday")
    hands.follows("Version 1")
    hands.sees("This is version 1.")
    hands.presses("Restore as a new version")
    hands.sees("Restored, as a new version.")
    hands.sees("Ship on Tuesday")


@flow
def sets_a_value(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/values/new/")
    hands.writes("Namespace", "prefs")
    hands.writes("Key", "tone")
    hands.writes("Value", '"warm"')
    hands.presses("Save")
    hands.sees("tone")
    hands.goes_to(f"{SPACE}/values/in/prefs/value/?key=tone")
    hands.writes("Value", '"dry"')
    hands.presses("Save")
    hands.sees("Saved.")
    hands.sees("Version 2")


@flow
def makes_a_rule_and_ends_it(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/policies/new/")
    hands.writes("Name", "Two for letters")
    hands.chooses("What it does", "Denies")
    hands.writes("Class", "gmail.reply")
    hands.presses("Try it on the last 30 days")
    hands.sees("In the last 30 days")
    hands.presses("Start the rule")
    hands.sees("holds from now on")
    with tenant(cast.account.id):
        assert Policy.objects.get().effect == "deny"
    hands.presses_on(hands.page.get_by_label("End Two for letters").first)
    hands.presses("End it now")
    hands.sees("The rule has ended.")


@flow
def invites_somebody(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{TEAM}/members/")
    hands.writes("E-mail", "new@acme.example")
    hands.chooses("Role", "Viewer")
    hands.presses("Invite")
    hands.sees("It is for new@acme.example alone.")


@flow
def keeps_what_was_captured(hands: Hands, cast: Cast) -> None:
    with tenant(cast.account.id):
        update_space(cast.owner.in_space("main"), Settings(capture_mode="review"))
        capture(cast.agent, [Said("user", "Remember that the night shift drinks tea")], session="s")
    hands.goes_to(f"{SPACE}/capture/")
    hands.presses_on(hands.page.locator("main").get_by_role("button", name="Remember").first)
    hands.sees("Remembered, as reviewed by you.")
    hands.goes_to(f"{SPACE}/memories/?q=night+shift")
    hands.sees("night shift")


@flow
def stops_everything_and_lets_it_go_on(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{TEAM}/connections/")
    hands.presses_on(hands.page.get_by_label("Stop: The whole team"))
    hands.sees("Nothing is carried out now.")
    hands.presses_on(hands.page.get_by_label("Go on: The whole team"))
    hands.sees("Actions are carried out again.")


@pytest.mark.parametrize("steps", FLOWS, ids=lambda steps: steps.__name__)
def test_a_person_with_a_keyboard_alone(steps: Flow, hands: Hands, cast: Cast, live_hub: str) -> None:
    sign_in(hands.page.context, cast.owner, live_hub)
    steps(hands, cast)


def test_a_person_signs_in_and_out_with_a_keyboard_alone(hands: Hands, cast: Cast) -> None:
    hands.goes_to(f"{SPACE}/inbox/")
    hands.writes("Email", "owner@acme.example")
    hands.writes("Password", "correct horse battery")
    hands.presses_on(hands.page.get_by_role("button", name="Sign in", exact=True))
    hands.sees("Inbox")
    hands.presses_on(hands.page.locator(".topbar summary", has_text="Your menu"))
    hands.presses_on(hands.page.locator(".topbar").get_by_role("button", name="Sign out"))
    hands.sees("Sign in")
