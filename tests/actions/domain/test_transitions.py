from dataclasses import replace

import pytest

import accounts.tasks  # noqa: F401
import actions.tasks  # noqa: F401 (both say what their jobs do)
from accounts.domain.jobs import run_due_jobs
from accounts.models import Account, AgentKey, Event, Membership, User
from actions.domain.actions import access_action
from actions.domain.history import history
from actions.domain.sweeps import expire_action, flag_stale_action
from actions.domain.transitions import approve_action, reject_action, transition_action
from actions.models import Action, Approval
from memoryhub.common.errors import Conflict, Forbidden, PreconditionFailed, ValidationFailed
from memoryhub.common.ids import typed_id
from spaces.models import Record, Space, SpaceMember, Value
from tests.actions.conftest import NOW
from tests.actions.stage import HOUR, MINUTE, action_in, approve, digest_of, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

THREE_SECONDS = "2026-03-02T09:00:03Z"


def claim(cast: Cast, action: Action) -> Action:
    return transition_action(cast.agent, action.uid, "approved", "executing")


def types_of(action: Action) -> list[str]:
    return [e.type for e in Event.objects.filter(object_id=action.uid).order_by("id")]


def test_the_whole_way_from_proposal_to_receipt(cast: Cast, clock) -> None:
    action = approve(cast.approver, proposed(cast))
    assert (action.status, action.decided_at) == ("approved", NOW)
    clock.shift(60)
    action = claim(cast, action)
    assert (action.status, action.claimed_by, action.claimed_at) == (
        "executing",
        cast.agent.key,
        NOW + MINUTE,
    )
    action = transition_action(cast.agent, "A1", "executing", "done", receipt={"ts": "17.2"})
    assert (action.status, action.receipt, action.finished_at) == ("done", {"ts": "17.2"}, NOW + MINUTE)
    assert types_of(action) == [f"action.{t}" for t in ("proposed", "approved", "executing", "done")]


def test_an_approval_keeps_the_digest_of_what_was_shown_and_who_gave_it(cast: Cast) -> None:
    action = approve(cast.approver, proposed(cast))
    [approval] = Approval.objects.filter(action=action)
    assert (approval.decision, approval.revision, approval.user_id) == ("approve", 1, cast.approver.user_id)
    assert approval.digest == digest_of(action)


def test_a_rejection_keeps_its_reason(cast: Cast) -> None:
    action = reject_action(cast.owner, proposed(cast).uid, reason="Not on a Friday.")
    assert (action.status, action.reason) == ("rejected", "Not on a Friday.")
    assert Approval.objects.get(action=action).decision == "reject"


@pytest.mark.parametrize("digest", ["", None])
def test_approving_without_the_digest_of_what_was_shown_is_refused(cast: Cast, digest: str | None) -> None:
    action = proposed(cast)
    with pytest.raises(ValidationFailed):
        transition_action(cast.owner, action.uid, "pending", "approved", digest=digest)
    assert access_action(cast.owner, action.uid).status == "pending"


def test_approving_another_digest_is_a_conflict_with_the_action_as_it_is(cast: Cast) -> None:
    action = proposed(cast)
    with pytest.raises(Conflict) as refusal:
        approve_action(cast.owner, action.uid, digest="0" * 64)
    assert refusal.value.details["actual"] == digest_of(action)
    assert refusal.value.details["current"]["changed"] == ["everything"]
    assert refusal.value.details["current"]["action"]["id"] == "A1"
    assert Approval.objects.count() == 0


def test_a_stale_from_is_a_conflict_with_the_action_as_it_is(cast: Cast) -> None:
    action = approve(cast.owner, proposed(cast))
    with pytest.raises(Conflict) as refusal:
        reject_action(cast.approver, action.uid)
    details = refusal.value.details
    assert (details["expected"], details["actual"], details["current"]["status"]) == (
        "pending", "approved", "approved",
    )  # fmt: skip
    assert types_of(action) == ["action.proposed", "action.approved"]


@pytest.mark.parametrize("move", ["approve", "reject"])
def test_a_decision_at_the_moment_of_expiry_is_too_late(cast: Cast, clock, move: str) -> None:
    action = proposed(cast, expires_at=THREE_SECONDS)
    clock.shift(3)
    with pytest.raises(Conflict) as refusal:
        approve(cast.owner, action) if move == "approve" else reject_action(cast.owner, action.uid)
    assert refusal.value.details["current"]["status"] == "expired"
    assert Approval.objects.count() == 0


def test_what_was_approved_just_in_time_can_not_be_claimed_late(cast: Cast, clock) -> None:
    action = proposed(cast, expires_at=THREE_SECONDS)
    clock.shift(2.9)
    assert approve(cast.owner, action).status == "approved"
    clock.move_to(NOW + MINUTE)
    with pytest.raises(Conflict) as refusal:
        claim(cast, action)
    assert refusal.value.details["actual"] == "expired"
    assert access_action(cast.agent, action.uid).claimed_by == ""


def test_what_is_executing_never_expires(cast: Cast, clock) -> None:
    action = claim(cast, approve(cast.owner, proposed(cast, expires_at=THREE_SECONDS)))
    clock.shift(4)
    assert not expire_action(cast.account.id, action.id)
    assert transition_action(cast.agent, action.uid, "executing", "done").status == "done"


@pytest.mark.parametrize("state", ["pending", "approved"])
def test_the_system_expires_what_is_open_once_its_time_is_over(cast: Cast, clock, state: str) -> None:
    action = action_in(cast, state, clock, expires_at=THREE_SECONDS)
    assert not expire_action(cast.account.id, action.id)
    clock.shift(3)
    assert expire_action(cast.account.id, action.id)
    assert Action.objects.get(id=action.id).status == "expired"
    assert not expire_action(cast.account.id, action.id)
    assert types_of(action)[-1] == "action.expired"


def test_the_expiry_is_a_job_that_waits_for_its_time(cast: Cast, clock) -> None:
    action = proposed(cast, expires_at=THREE_SECONDS)
    run_due_jobs()
    assert Action.objects.get(id=action.id).status == "pending"
    clock.shift(3)
    run_due_jobs()
    assert Action.objects.get(id=action.id).status == "expired"


def test_an_action_claimed_an_hour_ago_is_flagged_and_its_event_written(cast: Cast, clock) -> None:
    action = action_in(cast, "executing", clock)
    clock.shift(HOUR - MINUTE)
    assert not flag_stale_action(cast.account.id, action.id)
    assert not action.is_stale(NOW + HOUR - MINUTE)
    clock.shift(MINUTE)
    run_due_jobs()
    assert action.is_stale(NOW + HOUR)
    assert types_of(action)[-1] == "action.stale"


def test_a_person_settles_what_nothing_is_heard_of(cast: Cast, clock) -> None:
    action = action_in(cast, "executing", clock)
    failed = transition_action(cast.owner, action.uid, "executing", "failed", reason="The agent is gone.")
    assert (failed.status, failed.reason) == ("failed", "The agent is gone.")


def test_only_the_credential_that_claimed_tells_how_it_ended(cast: Cast, clock) -> None:
    action = action_in(cast, "executing", clock)
    other = replace(cast.agent, key_id=action.id)
    for end in ("done", "failed"):
        with pytest.raises(Forbidden, match="that claimed"):
            transition_action(other, action.uid, "executing", end)


@pytest.mark.parametrize("state", ["pending", "approved"])
def test_the_proposer_takes_back_what_is_not_yet_claimed(cast: Cast, clock, state: str) -> None:
    action = action_in(cast, state, clock)
    assert transition_action(
        cast.agent, action.uid, state, "cancelled", receipt={"why": "done by hand"}
    ).receipt


def test_a_reason_is_checked_like_any_text(cast: Cast) -> None:
    action = proposed(cast)
    for reason in ("x" * 501, "a\0b"):
        with pytest.raises(ValidationFailed):
            reject_action(cast.owner, action.uid, reason=reason)


def test_a_claim_needs_its_values_to_be_at_the_version_that_was_named(cast: Cast) -> None:
    action = approve(cast.owner, proposed(cast, preconditions={"kv": {"ops/a/b": 2, "ops/none": 0}}))
    with pytest.raises(PreconditionFailed) as refusal:
        claim(cast, action)
    assert refusal.value.details == {"failed": ["kv.ops/a/b"]}
    Value.objects.create(
        account=cast.account, space=cast.space, namespace="ops", key="a/b", value=1, version=2,
        created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    assert claim(cast, action).status == "executing"


def test_a_claim_needs_its_records_to_be_as_was_named(cast: Cast) -> None:
    record = Record.objects.create(
        account=cast.account, space=cast.space, collection="c", status="open", created_at=NOW, updated_at=NOW
    )
    ref = typed_id("rec", record.id)
    wanted = {"records": {ref: {"version": 1, "status": "open"}}}
    action = approve(cast.owner, proposed(cast, preconditions=wanted))
    Record.objects.update(status="done", version=2)
    with pytest.raises(PreconditionFailed) as refusal:
        claim(cast, action)
    assert refusal.value.details == {"failed": [f"records.{ref}.status", f"records.{ref}.version"]}
    Record.objects.update(status="open", version=1)
    assert claim(cast, action).status == "executing"


def test_a_record_of_another_space_is_as_absent_as_none(cast: Cast) -> None:
    other = Space.objects.create(account=cast.account, name="Other", slug="other")
    record = Record.objects.create(
        account=cast.account, space=other, collection="c", created_at=NOW, updated_at=NOW
    )
    wanted = {"records": {typed_id("rec", record.id): {"version": 1}}}
    action = approve(cast.owner, proposed(cast, preconditions=wanted))
    with pytest.raises(PreconditionFailed):
        claim(cast, action)


def test_a_claim_has_to_fall_into_the_times_that_were_named(cast: Cast, clock) -> None:
    window = {"not_before": "2026-03-02T09:01:00Z", "not_after": "2026-03-02T09:02:00Z"}
    action = approve(cast.owner, proposed(cast, preconditions=window))
    for seconds, failed in ((59, "not_before"), (121, "not_after")):
        clock.move_to(NOW + seconds * MINUTE / 60)
        with pytest.raises(PreconditionFailed) as refusal:
            claim(cast, action)
        assert refusal.value.details == {"failed": [failed]}
    clock.move_to(NOW + MINUTE)
    assert claim(cast, action).status == "executing"


def test_conditions_that_the_server_does_not_know_are_for_the_person_and_stop_nothing(cast: Cast) -> None:
    action = approve(cast.owner, proposed(cast, preconditions={"ask": "Is Ann back?"}))
    assert claim(cast, action).status == "executing"


@pytest.mark.parametrize(("switch", "where"), [(Account, "account"), (Space, "space")])
def test_a_kill_switch_stops_every_claim(cast: Cast, switch: type, where: str) -> None:
    action = approve(cast.owner, proposed(cast))
    switch.objects.update(actions_paused=True)
    with pytest.raises(PreconditionFailed, match=f"paused in this {where}"):
        claim(cast, action)
    switch.objects.update(actions_paused=False)
    assert claim(cast, action).status == "executing"


def leave(cast: Cast) -> None:
    Membership.objects.filter(user_id=cast.approver.user_id).delete()


def lose_role(cast: Cast) -> None:
    Membership.objects.filter(user_id=cast.approver.user_id).update(role="member")


def be_narrowed(cast: Cast) -> None:
    SpaceMember.objects.create(
        account=cast.account, space=cast.space, user_id=cast.approver.user_id, role="viewer"
    )


def be_locked_out(cast: Cast) -> None:
    User.objects.filter(id=cast.approver.user_id).update(is_active=False)


@pytest.mark.parametrize("lose", [leave, lose_role, be_narrowed, be_locked_out])
def test_an_approval_ends_with_the_right_of_its_giver(cast: Cast, lose) -> None:
    action = approve(cast.approver, proposed(cast))
    lose(cast)
    with pytest.raises(PreconditionFailed) as refusal:
        claim(cast, action)
    assert refusal.value.details == {"failed": ["approver"]}


def test_history_names_people_keys_and_the_system(cast: Cast, clock) -> None:
    AgentKey.objects.filter(id=cast.agent.key_id).update(name="Ops key")
    action = proposed(cast, expires_at=THREE_SECONDS)
    approve_action(cast.approver, action.uid, digest=digest_of(action), reason="Fine by me.")
    clock.shift(3)
    expire_action(cast.account.id, action.id)
    lines = history(access_action(cast.owner, action.uid))
    assert [(line.kind, line.who, line.is_person, line.reason) for line in lines] == [
        ("proposed", "Ops key", False, ""),
        ("approved", "Approver", True, "Fine by me."),
        ("expired", "Memory Hub", False, ""),
    ]
