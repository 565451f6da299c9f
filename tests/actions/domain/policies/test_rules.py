from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Event, Membership, User
from actions.domain.actions import access_action
from actions.domain.policies.applying import verdict_on
from actions.domain.policies.rules import (
    Draft,
    access_policy,
    backtest,
    change_policy,
    create_policy,
    end_policy,
    history_of,
    list_policies,
    pinned_draft,
)
from actions.domain.transitions import reject_action, transition_action
from actions.models import Action, Approval, Policy
from memoryhub.common.errors import Conflict, Forbidden, HubError, NotFound, ValidationFailed
from tests.actions.stage import DAY, HOUR, approve, propose, proposed
from tests.conftest import Cast
from tests.vendors.stage import carried_out, connected, prepared

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

ISSUE = "github.create_issue"


def rule(cast: Cast, effect: str = "require", class_name: str = "chat.send", **fields: object) -> Policy:
    person = cast.owner.in_space("main")
    return create_policy(person, Draft(f"A rule that {effect}s", effect, class_name, **fields))


def people(action: Action) -> int:
    return Approval.objects.filter(action=action, voided_at=None, policy=None).count()


def claim(cast: Cast, action: Action) -> Action:
    return transition_action(cast.agent, action.uid, "approved", "executing")


def test_what_a_rule_denies_is_refused_by_its_name_and_nothing_is_made(cast: Cast) -> None:
    rule(cast, "deny")
    with pytest.raises(Forbidden, match="A rule that denys"):
        propose(cast.agent)
    assert Action.objects.count() == 0


def test_a_rule_can_ask_for_several_people_and_each_counts_once(cast: Cast) -> None:
    rule(cast, approvals=2)
    action = proposed(cast)
    assert approve(cast.approver, action).status == "pending"
    with pytest.raises(Conflict, match="already"):
        approve(cast.approver, action)
    assert people(action) == 1
    assert approve(cast.owner, action).status == "approved"
    types = [e.type for e in Event.objects.filter(object_id=action.uid).order_by("at", "id")]
    assert types == ["action.proposed", "action.seconded", "action.approved"]
    assert claim(cast, action).status == "executing"


def test_one_who_agreed_may_still_reject(cast: Cast) -> None:
    rule(cast, approvals=2)
    action = proposed(cast)
    approve(cast.approver, action)
    assert reject_action(cast.approver, action.uid).status == "rejected"


def test_an_auto_rule_approves_in_its_owners_name(cast: Cast) -> None:
    made = rule(cast, "auto")
    action = access_action(cast.agent, propose(cast.agent).action.uid)
    assert action.status == "approved"
    [approval] = Approval.objects.filter(action=action)
    assert (approval.policy_id, approval.policy_version, approval.user_id) == (made.id, 1, cast.owner.user_id)
    assert claim(cast, action).status == "executing"


@pytest.mark.parametrize("role", ["approver", "admin", "", "shut out"])
def test_an_auto_rule_approves_nothing_once_its_owner_is_none(cast: Cast, role: str) -> None:
    rule(cast, "auto")
    member = Membership.objects.filter(user_id=cast.owner.user_id)
    if role == "shut out":
        User.objects.filter(id=cast.owner.user_id).update(is_active=False)
    elif role:
        member.update(role=role)
    else:
        member.delete()
    action = access_action(cast.agent, propose(cast.agent).action.uid)
    assert (action.status, Approval.objects.count()) == ("pending", 0)


def test_an_auto_rule_waits_until_it_is_known_where_it_leads(cast: Cast, clock, vendors) -> None:
    connected(cast.owner, "slack.send")
    rule(cast, "auto", "slack.send", conditions={"channels": ["#launch"]})
    action = propose(
        cast.agent, class_name="slack.send", payload={"channel": "launch", "message": "Hi"}
    ).action
    assert access_action(cast.agent, action.uid).status == "pending"
    action = carried_out(action, cast, clock)
    assert (action.status, len(vendors["slack"].made)) == ("done", 1)


def test_over_its_limits_an_auto_rule_asks_a_person(cast: Cast, clock) -> None:
    rule(cast, "auto", per_hour=2, per_day=3)
    status = []
    for _ in range(4):
        status.append(access_action(cast.agent, propose(cast.agent).action.uid).status)
    clock.shift(HOUR)
    status += [access_action(cast.agent, propose(cast.agent).action.uid).status for _ in range(2)]
    assert status == ["approved", "approved", "pending", "pending", "approved", "pending"]
    [pending, *_] = Action.objects.filter(status="pending").with_current()
    assert (verdict_on(pending).over, verdict_on(pending).effect) == (True, "require")


def test_deny_comes_before_require_and_require_before_auto(cast: Cast) -> None:
    rule(cast, "auto")
    two = rule(cast, approvals=2)
    action = proposed(cast)
    assert (action.status, verdict_on(action).rule) == ("pending", two)
    rule(cast, "deny")
    with pytest.raises(Forbidden):
        approve(cast.approver, action)


@pytest.mark.parametrize(
    "change", ["changed", "ended", "expired", "denied", "owner an approver", "owner demoted"]
)
def test_what_a_rule_approved_runs_only_while_the_rule_is_as_it_was(cast: Cast, clock, change: str) -> None:
    made, person = rule(cast, "auto"), cast.owner.in_space("main")
    action = access_action(cast.agent, propose(cast.agent, expires_at="2026-03-20").action.uid)
    match change:
        case "changed":
            change_policy(person, made.uid, Draft("Other", "auto", "chat.send", per_day=5), version=1)
        case "ended":
            end_policy(person, made.uid)
        case "expired":
            Policy.objects.update(expires_at=timezone.now() + HOUR)
            clock.shift(2 * HOUR)
        case "denied":
            rule(cast, "deny")
        case "owner an approver":
            Membership.objects.filter(user_id=cast.owner.user_id).update(role="approver")
        case _:
            Membership.objects.filter(user_id=cast.owner.user_id).update(role="member")
    with pytest.raises(HubError):
        claim(cast, action)
    assert access_action(cast.agent, action.uid).status == (
        "approved" if change == "owner demoted" else "failed"
    )


def test_a_rule_made_after_the_approval_that_asks_for_more_people_holds_it_back(cast: Cast) -> None:
    action = approve(cast.approver, proposed(cast))
    rule(cast, approvals=2)
    with pytest.raises(HubError, match="2 people"):
        claim(cast, action)
    assert access_action(cast.agent, action.uid).status == "approved"


@pytest.mark.parametrize("who", ["agent", "approver", "teammate", "viewer"])
def test_only_who_manages_makes_rules(cast: Cast, who: str) -> None:
    made = rule(cast)
    actor = getattr(cast, who).in_space("main")
    for attempt in (
        lambda: create_policy(actor, Draft("x", "require")),
        lambda: change_policy(actor, made.uid, Draft("x", "require"), version=1),
        lambda: end_policy(actor, made.uid),
        lambda: backtest(actor, Draft("x", "require")),
    ):
        with pytest.raises(Forbidden):
            attempt()


def test_a_rule_that_approves_by_itself_is_an_owners(cast: Cast) -> None:
    with pytest.raises(Forbidden, match="owner"):
        create_policy(cast.admin.in_space("main"), Draft("x", "auto", "chat.send"))
    made, admin = rule(cast, "auto"), cast.admin.in_space("main")
    with pytest.raises(Forbidden):
        change_policy(admin, made.uid, Draft("x", "require"), version=1)
    end_policy(admin, made.uid)
    assert list_policies(admin) == []


def test_an_auto_rule_lasts_90_days_and_is_for_one_class(cast: Cast) -> None:
    made = rule(cast, "auto")
    assert made.expires_at == timezone.now() + 90 * DAY
    for fields in ({"class_name": ""}, {"expires_at": timezone.now() + timedelta(days=366)}):
        with pytest.raises(ValidationFailed):
            rule(cast, "auto", **fields)


@pytest.mark.parametrize(
    ("fields", "named"),
    [({"name": " "}, "name"), ({"effect": "allow"}, "effect"), ({"approvals": 4}, "approvals"),
     ({"approvals": 0}, "approvals"), ({"class_name": "Slack.Send"}, "class_name"),
     ({"conditions": {"x": 1}}, "conditions.x")],
)  # fmt: skip
def test_a_rule_that_makes_no_sense_is_refused_by_its_field(cast: Cast, fields: dict, named: str) -> None:
    draft = Draft(**{"name": "n", "effect": "require", "class_name": "slack.send", **fields})
    with pytest.raises(ValidationFailed) as refusal:
        create_policy(cast.owner.in_space("main"), draft)
    assert list(refusal.value.fields) == [named]


def test_a_rule_keeps_its_history_and_of_two_who_change_it_one_is_told(cast: Cast) -> None:
    made, person = rule(cast, approvals=2), cast.owner.in_space("main")
    change_policy(person, made.uid, Draft("Three", "require", "chat.send", approvals=3), version=1)
    with pytest.raises(Conflict):
        change_policy(person, made.uid, Draft("Four", "require"), version=1)
    assert access_policy(person, made.uid).approvals == 3
    assert [(v.version, v.data["approvals"]) for v in history_of(made)] == [(1, 2)]
    end_policy(person, made.uid)
    with pytest.raises(NotFound):
        access_policy(person, made.uid)


def test_a_backtest_tells_how_people_decided_where_it_would_have(cast: Cast, clock) -> None:
    for channel, decide in (("#a", approve), ("#a", None), ("#b", approve)):
        action = proposed(cast, payload={"channel": channel})
        if decide:
            decide(cast.approver, action)
    reject_action(cast.approver, proposed(cast, payload={"channel": "#a"}).uid)
    draft = Draft("x", "auto", "chat.send", {"payload": {"channel": "#a"}})
    found = backtest(cast.owner.in_space("main"), draft)
    assert (found.matched, found.approved, found.rejected) == (3, 1, 1)
    clock.shift(31 * DAY)
    assert backtest(cast.owner.in_space("main"), draft).matched == 0


def test_a_rule_made_from_an_action_has_every_field_pinned(cast: Cast) -> None:
    action = proposed(cast)
    create_policy(cast.owner.in_space("main"), pinned_draft(action))
    same = access_action(cast.agent, propose(cast.agent).action.uid)
    other = access_action(
        cast.agent, propose(cast.agent, payload={"channel": "#launch", "text": "?"}).action.uid
    )
    assert (same.status, other.status) == ("approved", "pending")


def test_rules_are_of_their_space_alone(cast: Cast) -> None:
    made = rule(cast, "deny")
    with pytest.raises(NotFound):
        access_policy(cast.outsider_person.in_space("main"), made.uid)


def test_an_approved_issue_is_held_back_by_a_rule_that_came_later(cast: Cast, clock, vendors) -> None:
    connected(cast.owner, ISSUE)
    action = approve(cast.approver, prepared(cast, ISSUE))
    rule(cast, "deny", ISSUE)
    assert carried_out(action, cast, clock).status == "failed"
    assert vendors["github"].made == []
