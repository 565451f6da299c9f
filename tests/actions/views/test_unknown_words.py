"""What a page sends in words of its own: any other word changes nothing."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account
from actions.domain.pausing import pause_account, pause_space
from actions.domain.policies.rules import Draft, create_policy
from actions.domain.snoozing import snooze_action
from memoryhub.common.tenancy import tenant
from spaces.models import Space
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, freshly_signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("said", ["", "maybe", "YES"])
def test_what_stands_still_does_not_go_on_for_another_word(cast: Cast, said: str) -> None:
    with tenant(cast.account.id):
        pause_space(cast.approver.in_space("main"), paused=True)
        pause_account(cast.admin, paused=True)
    client = browser_of(cast.owner)
    for address in (f"{SPACE}/stop/", "/a/acme/connections/stop-all/"):
        assert client.post(address, {"paused": said}).status_code == 422
    with tenant(cast.account.id):
        assert Space.objects.get(id=cast.space.id).actions_paused
        assert Account.objects.get(id=cast.account.id).actions_paused


def test_what_became_of_an_action_is_said_with_yes_or_no(cast: Cast) -> None:
    with tenant(cast.account.id):
        action = proposed(cast)
    page = browser_of(cast.approver).post(
        f"{SPACE}/actions/{action.short_id}/settle/", {"happened": "perhaps"}
    )
    assert page.status_code == 422


def test_an_action_is_put_off_for_hours_that_are_offered(cast: Cast) -> None:
    with tenant(cast.account.id):
        action = proposed(cast)
        until = timezone.now() + timedelta(hours=1)
        snooze_action(cast.approver, action.uid, until=until)
    page = browser_of(cast.approver).post(f"{SPACE}/actions/{action.short_id}/snooze/", {"hours": "7"})
    assert page.status_code == 422
    with tenant(cast.account.id):
        action.refresh_from_db()
    assert action.snoozed_until == until


def test_a_rule_is_changed_by_who_says_which_version_they_had_before_them(cast: Cast) -> None:
    with tenant(cast.account.id):
        rule = create_policy(cast.owner.in_space("main"), Draft("Ask", "require"))
    sent = {"name": "Ask two", "effect": "require", "approvals": "2", "step": "start"}
    page = freshly_signed_in(cast.owner, time.time()).post(
        f"{SPACE}/policies/{rule.uid}/", {**sent, "version": "one"}
    )
    assert page.status_code == 422
    with tenant(cast.account.id):
        rule.refresh_from_db()
    assert (rule.version, rule.approvals) == (1, 1)
