"""The pages: how one is written to, and the webhooks of a team."""

import re
import time
from random import Random
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.actor import Actor
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection
from actions.domain.notices.choices import choice_of
from actions.domain.notices.direct import words_of
from actions.domain.notices.letters import compose_letter
from actions.domain.notices.people import tell_people
from actions.domain.notices.telling import EVENTS
from actions.domain.notices.waiting import still_asked, stock_of
from actions.domain.notices.webhooks import access_webhook, kept_of, list_webhooks
from actions.domain.notices.working import work_off_notices
from actions.forms import EVENT_NAMES
from actions.models import Action, Connection, Delivery, MailChoice, Way, Webhook
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from tests.actions.notices_stage import hook
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of
from tests.receiver import HERE, receiving

pytestmark = pytest.mark.django_db

HOME = "/a/acme"
URL = "https://ci.example/hub/T0K3N-in-the-path?key=abcdefghijklmnop1234567890"
FORM = {"name": "CI", "url": URL, "events": ["action.proposed", "action.done"], "space": "main"}


def owner(cast: Cast) -> Client:
    return freshly_signed_in(cast.owner, time.time())


def made_by_form(cast: Cast, **changes: Any) -> tuple[Webhook, str]:
    answer = owner(cast).post(f"{HOME}/webhooks/new/", {**FORM, **changes})
    assert answer.status_code == 200, text_of(answer)
    with tenant(cast.account.id):
        return list_webhooks(cast.owner)[-1], text_of(answer)


def test_a_webhook_is_made_and_its_secret_shown_once(cast: Cast) -> None:
    webhook, page = made_by_form(cast)
    with tenant(cast.account.id):
        kept = kept_of(access_webhook(cast.owner, webhook.uid))
    assert (kept.url, kept.secret in page) == (URL, True)
    for place in ("notifications/", f"webhooks/{webhook.uid}/", f"webhooks/{webhook.uid}/change/"):
        shown = text_of(owner(cast).get(f"{HOME}/{place}"))
        assert "ci.example" in shown
        assert kept.secret not in shown
        assert "T0K3N" not in shown


def test_an_address_that_holds_a_secret_is_taken_whole_and_a_name_that_does_is_cut(cast: Cast) -> None:
    secret = expand("ghp_{crc:30}", Random(3))
    url = f"https://ci.example/{secret}"
    webhook, page = made_by_form(cast, url=url, name=f"The receiver of {secret}, as people call it here")
    with tenant(cast.account.id):
        assert kept_of(access_webhook(cast.owner, webhook.uid)).url == url
    assert webhook.name.startswith("The receiver of [REDACTED:")
    assert secret not in page


def test_the_answer_with_the_secret_is_kept_by_no_browser(cast: Cast) -> None:
    answer = owner(cast).post(f"{HOME}/webhooks/new/", FORM)
    assert "no-store" in answer["Cache-Control"]


def test_what_is_wrong_is_told_beside_its_field(cast: Cast) -> None:
    answer = owner(cast).post(f"{HOME}/webhooks/new/", {**FORM, "url": "https://169.254.169.254/latest"})
    assert answer.status_code == 422
    assert "not public" in text_of(answer)
    assert not Webhook.objects.exists()


def test_a_changed_webhook_keeps_the_address_that_is_not_shown(cast: Cast) -> None:
    webhook, _page = made_by_form(cast)
    changed = {"name": "Other", "url": "", "events": ["action.failed"], "space": ""}
    assert owner(cast).post(f"{HOME}/webhooks/{webhook.uid}/change/", changed).status_code == 302
    with tenant(cast.account.id):
        found = access_webhook(cast.owner, webhook.uid)
        assert (found.name, found.events, found.space, kept_of(found).url) == (
            "Other", ["action.failed"], None, URL,
        )  # fmt: skip


def test_a_rotated_secret_is_shown_and_the_old_one_named_no_more(cast: Cast) -> None:
    webhook, first = made_by_form(cast)
    page = text_of(owner(cast).post(f"{HOME}/webhooks/{webhook.uid}/rotate/"))
    [old], [new] = (re.findall(r"whsec_[A-Za-z0-9+/=]+", text) for text in (first, page))
    assert old != new
    assert "24 hours" in page


def test_a_test_is_sent_and_told_of(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        webhook, _page = made_by_form(cast, url=receiver.url)
        receiver.answers.append(500)
        browser = owner(cast)
        assert browser.post(f"{HOME}/webhooks/{webhook.uid}/test/").status_code == 302
        work_off_notices()
        shown = text_of(browser.get(f"{HOME}/webhooks/{webhook.uid}/"))
        assert "answered 500" in shown
        assert "On its way" in shown
        browser.post(f"{HOME}/webhooks/{webhook.uid}/test/")
        work_off_notices()
        assert "Delivered" in text_of(browser.get(f"{HOME}/webhooks/{webhook.uid}/"))


def test_a_delivery_is_sent_again_from_its_page(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        with tenant(cast.account.id):
            webhook = hook(cast, receiver.url).webhook
            proposed(cast)
        work_off_notices()
        with tenant(cast.account.id):
            delivery = Delivery.objects.get()
        browser = owner(cast)
        browser.post(f"{HOME}/webhooks/{webhook.uid}/again/{delivery.uid}/")
        work_off_notices()
        assert [heard.headers["webhook-id"] for heard in receiver.heard] == [delivery.message_id] * 2


def test_it_is_switched_off_and_on_and_removed(cast: Cast) -> None:
    webhook, _page = made_by_form(cast)
    browser = owner(cast)
    for on, state in (("no", "by_hand"), ("yes", "")):
        browser.post(f"{HOME}/webhooks/{webhook.uid}/switch/", {"on": on})
        with tenant(cast.account.id):
            assert access_webhook(cast.owner, webhook.uid).off == state
    assert browser.post(f"{HOME}/webhooks/{webhook.uid}/switch/", {"on": ""}).status_code == 422
    browser.post(f"{HOME}/webhooks/{webhook.uid}/remove/")
    with tenant(cast.account.id):
        assert list_webhooks(cast.owner) == []


def test_webhooks_are_listed_for_those_who_manage(cast: Cast) -> None:
    made_by_form(cast)
    assert "ci.example" in text_of(browser_of(cast.admin).get(f"{HOME}/notifications/"))
    assert "ci.example" not in text_of(browser_of(cast.approver).get(f"{HOME}/notifications/"))


def test_a_person_chooses_for_themselves(cast: Cast) -> None:
    browser_of(cast.approver).post(f"{HOME}/notifications/", {"mode": "gathered", "hours": "24"})
    with tenant(cast.account.id):
        assert (
            choice_of(cast.account.id, cast.approver.user_id).mode,
            choice_of(cast.account.id, cast.owner.user_id).mode,
        ) == ("gathered", "risky")
    assert (
        browser_of(cast.approver).post(f"{HOME}/notifications/", {"mode": "x", "hours": "1"}).status_code
        == 422
    )


def slack_connected(cast: Cast, *scopes: str) -> None:
    with tenant(cast.account.id):
        add_connection(cast.owner, "slack", Tokens("token", scopes=scopes), Identity("T1/U1", "Acme"))


def switch_slack(cast: Cast, on: str) -> int:
    return browser_of(cast.approver).post(f"{HOME}/notifications/slack/", {"on": on}).status_code


def slack_card(person: Actor) -> str:
    page = text_of(browser_of(person).get(f"{HOME}/notifications/"))
    return page[page.index('aria-labelledby="slack"') :].partition("</section>")[0]


def test_messages_in_slack_are_offered_only_with_a_connection_that_works(cast: Cast) -> None:
    assert "no Slack connection that works" in slack_card(cast.approver)
    assert "Switch on" not in slack_card(cast.approver)
    assert switch_slack(cast, "yes") == 409
    slack_connected(cast)
    assert "Switch on" in slack_card(cast.approver)
    with tenant(cast.account.id):
        Connection.objects.update(broken=True)
    assert "Switch on" not in slack_card(cast.approver)


def test_a_connection_from_before_tells_on_the_page_what_it_lacks(cast: Cast) -> None:
    slack_connected(cast, "chat:write", "users:read")
    for person, who in (
        (cast.approver, "An owner or admin connects Slack anew"),
        (cast.admin, "Connect Slack anew"),
    ):
        assert "is not allowed users:read.email, im:write" in slack_card(person)
        assert who in slack_card(person)
        assert "Switch on" not in slack_card(person)


def test_a_person_switches_messages_in_slack_on_and_off_for_themselves(cast: Cast) -> None:
    slack_connected(cast)
    assert switch_slack(cast, "maybe") == 422
    for said, on in (("yes", True), ("no", False)):
        assert switch_slack(cast, said) == 302
        with tenant(cast.account.id):
            assert choice_of(cast.account.id, cast.approver.user_id).slack is on
            assert not choice_of(cast.account.id, cast.owner.user_id).slack


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("users_not_found", "Slack knows nobody with your address"),
        ("missing_scope", "an owner or admin connects Slack anew"),
        ("signed out", "no longer accepts"),
        ("not connected", "not connected any more"),
        ("unclear", "It is not known whether it arrived"),
        ("not_in_channel", "not_in_channel"),
    ],
)
def test_why_a_message_did_not_arrive_is_told_to_its_person_alone(cast: Cast, why: str, said: str) -> None:
    slack_connected(cast)
    switch_slack(cast, "yes")
    with tenant(cast.account.id):
        MailChoice.objects.filter(user_id=cast.approver.user_id).update(slack_trouble=why)
    assert said in slack_card(cast.approver)
    assert "The last message" not in slack_card(cast.owner)
    switch_slack(cast, "no")
    switch_slack(cast, "yes")
    assert "The last message" not in slack_card(cast.approver)


def test_who_has_it_can_switch_it_off_though_the_connection_is_gone(cast: Cast) -> None:
    slack_connected(cast)
    switch_slack(cast, "yes")
    with tenant(cast.account.id):
        Connection.objects.update(broken=True)
    assert "Switch off" in slack_card(cast.approver)
    assert switch_slack(cast, "no") == 302


@pytest.mark.parametrize(("backend", "said"), [("console", True), ("locmem", False)])
def test_the_page_says_where_there_is_no_mail_server(
    cast: Cast, settings: Any, backend: str, said: bool
) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"
    assert ("No mail server is set" in text_of(browser_of(cast.viewer).get(f"{HOME}/notifications/"))) is said


def test_the_page_says_where_an_address_is_only_said(cast: Cast) -> None:
    page = f"{HOME}/notifications/"
    assert "proves it" not in text_of(browser_of(cast.approver).get(page))
    EmailAddress.objects.filter(user_id=cast.approver.user_id).update(verified=False)
    assert "proves it" in text_of(browser_of(cast.approver).get(page))


def test_following_every_link_of_a_letter_or_a_message_decides_nothing(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with tenant(cast.account.id):
        action = proposed(cast)
    with receiving() as receiver:
        with tenant(cast.account.id):
            hook(cast, receiver.url)
            MailChoice.objects.create(account_id=cast.account.id, user_id=cast.owner.user_id, slack=True)
            tell_people(cast.account.id, action.id)
            letter = compose_letter(cast.account.id, cast.owner.user_id)
            stock = stock_of(cast.account.id, still_asked(cast.account.id, cast.owner.user_id, Way.SLACK))
            other = proposed(cast)
        work_off_notices()
        sent = letter.body + words_of(stock).replace(">", " ") + receiver.heard[0].body.decode()
    links = [
        link.removeprefix("http://testserver") for link in re.findall(r"http://testserver[^\s\"]+", sent)
    ]
    assert len(links) >= 4
    signed_in = freshly_signed_in(cast.owner, time.time())
    for link in links:
        assert not re.search(r"approve|token|digest|sig", link)
        assert Client().get(link).status_code == 302
        assert signed_in.get(link).status_code == 200
        assert signed_in.post(link, {"decision": "approved"}).status_code in (405, 422)
    with tenant(cast.account.id):
        assert set(Action.objects.values_list("id", "status")) == {
            (action.id, "pending"),
            (other.id, "pending"),
        }
    assert mail.outbox == []


def test_every_event_has_its_words() -> None:
    assert tuple(EVENT_NAMES) == EVENTS
