from datetime import timedelta

import pytest

from accounts.models import Event, Job
from actions.domain.editing import edit_action
from actions.domain.inbox import count_inbox
from actions.domain.snoozing import WAKE, snooze_action, wake_action
from actions.domain.transitions import transition_action
from actions.models import Action, ActionRevision, Approval
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from tests.actions.conftest import NOW
from tests.actions.stage import HOUR, action_in, approve, digest_of, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

OTHER = {"channel": "#launch", "text": "We are nearly live."}


def test_an_edit_is_a_new_revision_that_is_still_pending(cast: Cast) -> None:
    action = proposed(cast)
    edited = edit_action(cast.approver, action.uid, payload=OTHER, digest=digest_of(action))
    assert (edited.status, edited.revision, edited.current.payload) == ("pending", 2, OTHER)
    assert edited.current.written_by == cast.approver.key
    assert edited.current.digest != action.current.digest
    assert [r.number for r in ActionRevision.objects.filter(action=action).order_by("number")] == [1, 2]
    assert Event.objects.filter(object_id=action.uid, type="action.revised").count() == 1


def test_what_was_read_before_the_edit_can_not_be_approved(cast: Cast) -> None:
    action = proposed(cast)
    edit_action(cast.approver, action.uid, payload=OTHER, digest=digest_of(action))
    with pytest.raises(Conflict) as conflict:
        approve(cast.owner, action)
    assert conflict.value.details["current"]["changed"] == ["revision", "payload"]


def test_of_two_who_edit_the_same_revision_one_is_told(cast: Cast) -> None:
    action = proposed(cast)
    edit_action(cast.approver, action.uid, payload=OTHER, digest=digest_of(action))
    with pytest.raises(Conflict):
        edit_action(cast.owner, action.uid, payload={"x": 1}, digest=digest_of(action))
    assert Action.objects.get(id=action.id).revision == 2


def test_an_edit_voids_the_approvals_there_are(cast: Cast) -> None:
    action = proposed(cast)
    Approval.objects.create(
        account_id=action.account_id, space_id=action.space_id, action=action, revision=1,
        digest=digest_of(action), user_id=cast.owner.user_id, decision="approve", decided_at=NOW,
    )  # fmt: skip
    edit_action(cast.approver, action.uid, payload=OTHER, digest=digest_of(action))
    assert not Approval.objects.filter(action=action, voided_at=None).exists()


@pytest.mark.parametrize("who", ["agent", "teammate", "viewer", "admin"])
def test_only_who_may_decide_edits_or_snoozes(cast: Cast, who: str) -> None:
    action = proposed(cast)
    with pytest.raises(Forbidden):
        edit_action(getattr(cast, who), action.uid, payload=OTHER, digest=digest_of(action))
    with pytest.raises(Forbidden):
        snooze_action(getattr(cast, who), action.uid, until=NOW + HOUR)


@pytest.mark.parametrize(
    "status", ["approved", "rejected", "executing", "done", "failed", "expired", "cancelled"]
)
def test_only_what_is_pending_is_edited_or_snoozed(cast: Cast, clock, status: str) -> None:
    action = action_in(cast, status, clock)
    with pytest.raises(Conflict):
        edit_action(cast.approver, action.uid, payload=OTHER, digest=digest_of(action))
    with pytest.raises(Conflict):
        snooze_action(cast.approver, action.uid, until=NOW + HOUR)


def test_an_edit_that_changes_nothing_is_refused(cast: Cast) -> None:
    action = proposed(cast)
    with pytest.raises(ValidationFailed):
        edit_action(cast.approver, action.uid, payload=action.current.payload, digest=digest_of(action))


def test_an_edit_of_a_connectors_class_is_held_to_its_form(cast: Cast) -> None:
    action = proposed(cast, class_name="github.create_issue", payload={"repo": "octo/hello", "title": "T"})
    with pytest.raises(ValidationFailed) as refusal:
        edit_action(
            cast.approver, action.uid, payload={"repo": "octo", "title": "T"}, digest=digest_of(action)
        )
    assert list(refusal.value.fields) == ["payload.repo"]


def tabs(cast: Cast) -> dict[str, int]:
    counted = count_inbox(cast.approver.in_space("main"), ["needs_you", "waiting", "snoozed"])
    return {tab: count for tab, count in counted.items() if count}


def test_what_is_snoozed_is_out_of_sight_until_then(cast: Cast, clock) -> None:
    action = proposed(cast)
    assert tabs(cast) == {"needs_you": 1}
    snooze_action(cast.approver, action.uid, until=NOW + HOUR)
    assert tabs(cast) == {"snoozed": 1}
    [job] = Job.objects.filter(kind=WAKE)
    assert job.run_after == NOW + HOUR
    assert wake_action(action.account_id, action.id) is False
    clock.shift(HOUR)
    assert tabs(cast) == {"needs_you": 1}
    assert wake_action(action.account_id, action.id) is True


def test_what_is_snoozed_can_be_taken_up_again_decided_on_and_withdrawn(cast: Cast) -> None:
    first, second, third = proposed(cast), proposed(cast), proposed(cast)
    for action in (first, second, third):
        snooze_action(cast.approver, action.uid, until=NOW + HOUR)
    snooze_action(cast.approver, first.uid, until=None)
    assert approve(cast.approver, second).status == "approved"
    assert transition_action(cast.agent, third.uid, "pending", "cancelled").status == "cancelled"
    assert tabs(cast) == {"needs_you": 1}


@pytest.mark.parametrize("ahead", [timedelta(0), -HOUR, 72 * HOUR, 100 * HOUR])
def test_snoozing_past_the_expiry_or_into_the_past_is_refused(cast: Cast, ahead: timedelta) -> None:
    action = proposed(cast)
    with pytest.raises(ValidationFailed):
        snooze_action(cast.approver, action.uid, until=NOW + ahead)
