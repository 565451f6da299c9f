"""Ticking rows of the inbox, reading each whole, and deciding on all of them at once."""

import time
from typing import Any
from urllib.parse import urlencode

import pytest

from actions.domain.actions import access_action
from actions.domain.editing import edit_action
from actions.domain.policies.rules import Draft, create_policy
from actions.models import Action
from memoryhub.common.tenancy import tenant
from tests.actions.stage import digest_of, proposed
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, freshly_signed_in, text_of

pytestmark = pytest.mark.django_db

INBOX, TOGETHER = f"{SPACE}/inbox/", f"{SPACE}/inbox/together/"
OUTSIDE = {"to": "ana@elsewhere.example", "text": "Hi"}


def new(cast: Cast, **fields: Any) -> tuple[Action, str]:
    """An action, and what its tick sends."""
    with tenant(cast.account.id):
        action = proposed(cast, **fields)
        return action, f"{action.short_id} {digest_of(action)}"


def ticked(*ticks: str) -> str:
    return f"{TOGETHER}?{urlencode([('chosen', tick) for tick in ticks])}"


def statuses(cast: Cast, *actions: Action) -> list[str]:
    with tenant(cast.account.id):
        return [access_action(cast.owner, action.uid).status for action in actions]


def test_each_row_that_waits_can_be_ticked_with_the_digest_it_has(cast: Cast) -> None:
    (_, one), (_, two) = new(cast), new(cast)
    page = text_of(browser_of(cast.approver).get(INBOX))
    for tick in (one, two):
        assert f'name="chosen" form="ticked" value="{tick}"' in page
    assert 'name="chosen"' not in text_of(browser_of(cast.viewer).get(f"{INBOX}?tab=waiting"))


def test_what_was_ticked_is_shown_whole_and_decided_on_as_shown(cast: Cast) -> None:
    (first, one), (second, two), (other, _) = new(cast, payload={"text": "w" * 900}), new(cast), new(cast)
    client = browser_of(cast.approver)
    page = text_of(client.get(ticked(one, two)))
    assert "w" * 900 in page
    assert f'value="{one}" checked' in page
    assert other.short_id not in page
    answer = text_of(client.post(TOGETHER, {"chosen": [one, two], "to": "approved"}))
    assert answer.count("badge ok") == 2
    assert statuses(cast, first, second, other) == ["approved", "approved", "pending"]


def test_what_changed_after_it_was_ticked_is_said_and_not_ticked_any_more(cast: Cast) -> None:
    action, tick = new(cast)
    with tenant(cast.account.id):
        person = cast.owner.in_space("main")
        edit_action(person, action.uid, payload={"text": "Another"}, digest=digest_of(action))
    client = browser_of(cast.approver)
    page = text_of(client.get(ticked(tick)))
    assert "It changed after you ticked it" in page
    assert "checked" not in page
    answer = text_of(client.post(TOGETHER, {"chosen": [tick], "to": "approved"}))
    assert "This is not what you were shown" in answer
    assert statuses(cast, action) == ["pending"]


def test_only_one_class_and_no_more_than_50_are_decided_on_together(cast: Cast) -> None:
    (one, first), (two, second) = new(cast), new(cast, class_name="deploy.run")
    client = browser_of(cast.approver)
    assert client.get(ticked(first, second)).status_code == 422
    many = [f"A{n} {'0' * 64}" for n in range(1, 52)]
    for answer in (
        client.get(ticked(*many)),
        client.post(TOGETHER, {"chosen": many, "to": "rejected"}),
        client.post(TOGETHER, {"chosen": [first, second], "to": "approved"}),
        client.post(TOGETHER, {"chosen": [first], "to": "done"}),
        client.post(TOGETHER, {"to": "approved"}),
    ):
        assert answer.status_code == 422
    assert statuses(cast, one, two) == ["pending", "pending"]


def test_one_of_high_risk_among_them_asks_for_the_password_and_comes_back_to_them(cast: Cast) -> None:
    (plain, one), (risky, two) = new(cast), new(cast, payload=OUTSIDE)
    client = browser_of(cast.approver)
    answer = client.post(TOGETHER, {"chosen": [one, two], "to": "approved"})
    assert answer["Location"] == f"/accounts/reauthenticate/?{urlencode({'next': ticked(one, two)})}"
    assert statuses(cast, plain, risky) == ["pending", "pending"]
    fresh = freshly_signed_in(cast.approver, time.time())
    fresh.post(TOGETHER, {"chosen": [one, two], "to": "approved"})
    assert statuses(cast, plain, risky) == ["approved", "approved"]


def test_what_is_of_no_risk_asks_for_no_password_and_rejecting_never_does(cast: Cast) -> None:
    (plain, one), (risky, two) = new(cast), new(cast, payload=OUTSIDE)
    client = browser_of(cast.approver)
    client.post(TOGETHER, {"chosen": [one], "to": "approved"})
    client.post(TOGETHER, {"chosen": [two], "to": "rejected", "reason": "No"})
    assert statuses(cast, plain, risky) == ["approved", "rejected"]


def test_where_two_have_to_agree_each_of_them_agrees_to_all(cast: Cast) -> None:
    with tenant(cast.account.id):
        create_policy(cast.owner.in_space("main"), Draft("Two", "require", approvals=2))
    (one, first), (two, second) = new(cast), new(cast)
    sent = {"chosen": [first, second], "to": "approved"}
    answer = text_of(browser_of(cast.approver).post(TOGETHER, sent))
    assert answer.count("You agree") == 2
    assert statuses(cast, one, two) == ["pending", "pending"]
    assert "already" in text_of(browser_of(cast.approver).post(TOGETHER, sent))
    browser_of(cast.owner).post(TOGETHER, sent)
    assert statuses(cast, one, two) == ["approved", "approved"]


def test_who_may_not_decide_is_shown_them_and_changes_nothing(cast: Cast) -> None:
    action, tick = new(cast)
    client = browser_of(cast.teammate)
    assert " disabled>" in text_of(client.get(ticked(tick)))
    assert "badge bad" in text_of(client.post(TOGETHER, {"chosen": [tick], "to": "approved"}))
    assert statuses(cast, action) == ["pending"]
