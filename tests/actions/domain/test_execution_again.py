"""What is taken up a second time: after a refusal for now, or from a worker that is gone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from actions.connectors import CONNECTORS
from actions.domain.execution import work_off
from actions.domain.policies.rules import Draft, create_policy
from actions.domain.settling import settle_action
from actions.models import Action
from memoryhub.common.errors import Conflict
from tests.conftest import Cast
from tests.vendors.faults import BY_NAME, Fault
from tests.vendors.server import Vendor
from tests.vendors.stage import UNDO, abandoned, approved, carried_out, now, outcomes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

ISSUE, EVENT = "github.create_issue", "calendar.create"


def soon(**ahead: float) -> str:
    return (timezone.now() + timedelta(**ahead)).isoformat()


def turned_away(cast: Cast, clock: Any, vendors: dict[str, Vendor], **fields: Any) -> Action:
    """Approved, tried once, and told to come again later."""
    action = approved(cast, ISSUE, **fields)
    vendors["github"].faults.append(BY_NAME["too many requests"])
    clock.shift(UNDO)
    work_off()
    assert outcomes(action) == ["not_sent"]
    return action


def test_it_is_not_tried_again_after_its_time(cast: Cast, clock, vendors: dict[str, Vendor]) -> None:
    action = turned_away(cast, clock, vendors, expires_at=soon(minutes=10))
    clock.shift(timedelta(minutes=11))
    work_off()
    assert (now(action, cast).status, outcomes(action)) == ("failed", ["not_sent"])
    assert vendors["github"].made == []


def test_it_is_not_tried_again_while_its_preconditions_do_not_hold(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    until = {"not_after": soon(minutes=10)}
    action = turned_away(cast, clock, vendors, preconditions=until, expires_at=soon(minutes=20))
    clock.shift(timedelta(minutes=11))
    work_off()
    assert (now(action, cast).status, outcomes(action)) == ("executing", ["not_sent"])
    clock.shift(timedelta(minutes=10))
    work_off()
    assert (now(action, cast).status, vendors["github"].made) == ("failed", [])


def a_rule_that_denies(cast: Cast, vendor: Vendor) -> None:
    create_policy(cast.owner.in_space("main"), Draft("No meetings", "deny", EVENT))


def refuses(cast: Cast, vendor: Vendor) -> None:
    vendor.faults.append(Fault("forbidden", False, 403))


@pytest.mark.parametrize("change", [a_rule_that_denies, refuses])
def test_what_a_worker_that_is_gone_may_have_sent_is_never_told_as_not_sent(
    cast: Cast, clock, vendors: dict[str, Vendor], change: Callable[[Cast, Vendor], None]
) -> None:
    action, vendor = left_behind(cast, clock, vendors, sent=True)
    change(cast, vendor)
    action = carried_out(action, cast, clock)
    assert (action.status, outcomes(action), len(vendor.made)) == ("done", ["sent"], 1)


def test_where_one_can_not_look_any_more_people_are_asked(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action, vendor = left_behind(cast, clock, vendors, sent=True)
    vendor.token = "another"
    action = carried_out(action, cast, clock)
    assert (action.status, bool(action.doubt), outcomes(action)) == ("executing", True, ["unknown"])


def test_a_calendar_is_not_asked_a_second_time_after_the_actions_time(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action, vendor = left_behind(cast, clock, vendors, sent=False, expires_at=soon(minutes=10))
    clock.shift(timedelta(minutes=11))
    action = carried_out(action, cast, clock)
    assert (action.status, bool(action.doubt), vendor.made) == ("executing", True, [])


def test_an_answer_of_another_form_does_not_keep_people_from_being_asked(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action = approved(cast, ISSUE)
    abandoned(action)
    vendors["github"].answer = lambda asked: (200, ["no issue at all"])  # type: ignore[method-assign]
    action = carried_out(action, cast, clock)
    assert (action.status, bool(action.doubt)) == ("executing", True)


@pytest.mark.parametrize("happened", [True, False])
def test_nobody_settles_what_a_worker_is_still_about(cast: Cast, clock, vendors, happened: bool) -> None:
    action, _ = left_behind(cast, clock, vendors, sent=False)
    with pytest.raises(Conflict):
        settle_action(cast.approver, action.uid, happened=happened)
    assert (now(action, cast).status, outcomes(action)) == ("executing", ["unknown"])


def left_behind(
    cast: Cast, clock: Any, vendors: dict[str, Vendor], *, sent: bool, **fields: Any
) -> tuple[Action, Vendor]:
    """An event that a worker was about to make, or has made, when it went."""
    action, vendor = approved(cast, EVENT, **fields), vendors["calendar"]
    abandoned(action)
    if sent:
        body = CONNECTORS[EVENT].call(action.current.payload, action.uid).body
        vendor.made.append({**(body or {}), "sendUpdates": "none"})
    return action, vendor
