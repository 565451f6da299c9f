"""From an approval to what the vendor has, and whatever can go wrong in between."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Event, Job, Membership
from actions.connectors import CONNECTORS
from actions.domain.connections import connect, revoke_connection
from actions.domain.execution import MOST_TRIES, work_off
from actions.domain.lane import ACTIONS, RUN, TEND
from actions.domain.pausing import pause_account, pause_space
from actions.domain.settling import look_again, settle_action
from actions.domain.sweeps import expire_action
from actions.domain.transitions import transition_action
from actions.models import Action, ActionRevision, Attempt
from memoryhub.common.errors import Conflict, Forbidden, HubError, NotConnected, PreconditionFailed
from tests.actions.stage import approve, propose
from tests.conftest import Cast
from tests.vendors.faults import BY_NAME, FAULTS
from tests.vendors.server import Vendor
from tests.vendors.stage import (
    CLASSES,
    PAYLOADS,
    UNDO,
    abandoned,
    approved,
    carried_out,
    connected,
    now,
    outcomes,
    prepared,
    service_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

ISSUE = "github.create_issue"
EVERY = pytest.mark.parametrize("name", CLASSES)


@EVERY
def test_what_is_approved_is_made_once_and_its_receipt_kept(
    cast: Cast, clock, vendors: dict[str, Vendor], name: str
) -> None:
    action = carried_out(approved(cast, name), cast, clock)
    assert (action.status, outcomes(action), action.doubt) == ("done", ["sent"], "")
    assert len(vendors[service_of(name)].made) == 1
    assert action.receipt
    assert [e.type for e in Event.objects.filter(object_id=action.uid).order_by("at", "id")][-3:] == [
        "action.approved", "action.executing", "action.done",
    ]  # fmt: skip
    assert not Job.objects.filter(lane=ACTIONS.name).exclude(kind=TEND).exists()


EFFECTS = {fault.name: fault.effect for fault in FAULTS}


@EVERY
@pytest.mark.parametrize("fault", EFFECTS)
def test_whatever_goes_wrong_at_the_vendor_it_is_never_made_twice_nor_lost_in_silence(
    cast: Cast, clock, vendors: dict[str, Vendor], name: str, fault: str
) -> None:
    """Done; or failed, where it certainly wasn't sent; or in doubt, and people are told."""
    vendor = vendors[service_of(name)]
    action = approved(cast, name)
    vendor.faults.append(BY_NAME[fault])
    action = carried_out(action, cast, clock)
    ended = (action.status, bool(action.doubt), len(vendor.made))
    if fault == "revoked token":
        assert ended == ("failed", False, 0)
    elif EFFECTS[fault] or fault == "too many requests" or name == "calendar.create":
        assert ended == ("done", False, 1)
    else:
        assert ended == ("executing", True, 0)
    assert not [asked for asked in vendor.asked if asked.path == "/elsewhere"]


def test_nothing_is_sent_within_the_undo_window_nor_after_it_was_taken_back(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action = approved(cast, ISSUE)
    clock.shift(UNDO - 2)
    work_off()
    assert (now(action, cast).status, vendors["github"].made) == ("approved", [])
    transition_action(cast.approver, action.uid, "approved", "cancelled")
    assert carried_out(action, cast, clock).status == "cancelled"
    assert vendors["github"].made == []


def test_without_a_connection_the_proposal_is_kept_and_approving_it_says_where_to_connect(
    cast: Cast, vendors: dict[str, Vendor]
) -> None:
    proposal = propose(cast.agent, class_name=ISSUE, payload=PAYLOADS[ISSUE])
    assert (proposal.created, proposal.warnings) == (True, ["not_connected"])
    with pytest.raises(NotConnected) as refusal:
        approve(cast.approver, proposal.action)
    assert refusal.value.details["connect_url"].endswith("/a/acme/connections/")


@EVERY
def test_a_connection_made_later_is_bound_by_a_new_revision(
    cast: Cast, vendors: dict[str, Vendor], name: str
) -> None:
    action = prepared(cast, name)
    assert (action.revision, action.current.connection) == (1, None)
    made = connected(cast.owner, name)
    work_off()
    action = now(action, cast)
    assert (action.revision, action.current.connection_id) == (2, made.id)
    assert approve(cast.approver, action).status == "approved"


def test_what_a_name_means_is_looked_up_before_anybody_is_asked(
    cast: Cast, vendors: dict[str, Vendor]
) -> None:
    connected(cast.owner, "slack.send")
    action = propose(cast.agent, class_name="slack.send", payload=PAYLOADS["slack.send"]).action
    with pytest.raises(PreconditionFailed, match="looked up"):
        approve(cast.approver, action)
    work_off()
    action = now(action, cast)
    assert action.current.payload == {
        "channel": "C0LAUNCH01",
        "channel_name": "#launch",
        "text": "We are live &amp; &lt;well&gt;",
    }
    assert approve(cast.approver, action).status == "approved"


def test_a_channel_that_means_another_after_the_approval_changes_nothing(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action = approved(cast, "slack.send")
    vendors["slack"].channels = {"C0LAUNCH01": "old-launch", "C0OTHER001": "launch"}
    carried_out(action, cast, clock)
    assert [message["channel"] for message in vendors["slack"].made] == ["C0LAUNCH01"]


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("slack.send", {"channel": "#nowhere", "message": "x"}),
        ("gmail.reply", {"thread_id": "bad", "body": "x"}),
        ("notion.create_page", {"parent_id": "e" * 32, "title": "x"}),
    ],
)
def test_what_the_vendor_does_not_know_is_said_and_can_not_be_approved(
    cast: Cast, vendors: dict[str, Vendor], name: str, payload: dict
) -> None:
    connected(cast.owner, name)
    action = prepared(cast, name, payload=payload)
    assert (action.status, bool(action.doubt)) == ("pending", True)
    with pytest.raises(PreconditionFailed) as refusal:
        approve(cast.approver, action)
    assert refusal.value.message == action.doubt


def test_while_actions_are_paused_nothing_is_sent(cast: Cast, clock, vendors: dict[str, Vendor]) -> None:
    action = approved(cast, ISSUE)
    person = cast.approver.in_space("main")
    pause_space(person, paused=True)
    assert carried_out(action, cast, clock, rounds=3).status == "approved"
    pause_space(person, paused=False)
    pause_account(cast.admin, paused=True)
    assert carried_out(action, cast, clock, rounds=3).status == "approved"
    assert vendors["github"].made == []
    pause_account(cast.admin, paused=False)
    assert carried_out(action, cast, clock).status == "done"


@pytest.mark.parametrize("who", ["agent", "teammate", "viewer"])
def test_who_may_neither_decide_nor_manage_can_not_pause(cast: Cast, who: str) -> None:
    for pause in (pause_space, pause_account):
        with pytest.raises(Forbidden):
            pause(getattr(cast, who), paused=True)


def test_what_expires_before_it_is_sent_is_never_sent(cast: Cast, clock, vendors: dict[str, Vendor]) -> None:
    soon = (timezone.now() + timedelta(seconds=UNDO - 1)).isoformat()
    action = approved(cast, ISSUE, expires_at=soon)
    clock.shift(UNDO)
    work_off()
    expire_action(action.account_id, action.id)
    assert (now(action, cast).status, vendors["github"].made) == ("expired", [])


def test_what_was_approved_for_a_connection_is_not_carried_out_with_another(
    cast: Cast, clock, vendors: dict[str, Vendor]
) -> None:
    action = approved(cast, ISSUE)
    connected(cast.owner, ISSUE)
    action = carried_out(action, cast, clock)
    assert (action.status, vendors["github"].made) == ("failed", [])


def test_revoking_a_connection_stops_what_was_approved_for_it(cast: Cast, clock, vendors) -> None:
    made = connected(cast.owner, ISSUE)
    action = approve(cast.approver, prepared(cast, ISSUE))
    revoke_connection(cast.admin, made.uid)
    assert carried_out(action, cast, clock).status == "failed"
    assert vendors["github"].made == []


def test_an_approval_lasts_no_longer_than_its_givers_right(cast: Cast, clock, vendors) -> None:
    action = approved(cast, ISSUE)
    Membership.objects.filter(user_id=cast.approver.user_id).update(role="viewer")
    assert carried_out(action, cast, clock, rounds=3).status == "approved"
    assert vendors["github"].made == []


def test_it_is_tried_a_few_times_and_then_given_up(cast: Cast, clock, vendors: dict[str, Vendor]) -> None:
    action = approved(cast, ISSUE)
    vendors["github"].faults.extend([BY_NAME["too many requests"]] * 20)
    action = carried_out(action, cast, clock, seconds=200)
    assert (action.status, outcomes(action)) == ("failed", ["not_sent"] * MOST_TRIES)
    assert vendors["github"].made == []


def test_a_vendor_that_is_not_there_is_tried_again(cast: Cast, clock, vendors, settings) -> None:
    action = approved(cast, ISSUE)
    there = settings.VENDOR_URLS
    settings.VENDOR_URLS = {**there, "github": "http://127.0.0.1:9"}
    clock.shift(UNDO)
    work_off()
    assert outcomes(action) == ["not_sent"]
    settings.VENDOR_URLS = there
    assert carried_out(action, cast, clock).status == "done"
    assert outcomes(action) == ["not_sent", "sent"]


def test_a_worker_that_died_before_the_call_leaves_a_doubt_and_nothing_is_sent_blindly(
    cast: Cast, clock, vendors
) -> None:
    action = died_after(cast, clock, sent=False, vendor=vendors["github"])
    assert (action.status, bool(action.doubt), len(vendors["github"].made)) == ("executing", True, 0)


def test_what_a_worker_sent_before_it_died_is_found_again(cast: Cast, clock, vendors) -> None:
    action = died_after(cast, clock, sent=True, vendor=vendors["github"])
    assert (action.status, len(vendors["github"].made)) == ("done", 1)
    assert action.receipt["found_afterwards"] is True


def died_after(cast: Cast, clock, *, sent: bool, vendor: Vendor) -> Action:
    """Its attempt is committed, its lease runs out, and another worker takes the job up."""
    action = approved(cast, ISSUE)
    abandoned(action)
    if sent:
        vendor.make(CONNECTORS[ISSUE].call(action.current.payload, action.uid).body)
    return carried_out(action, cast, clock)


def in_doubt(cast: Cast, clock, vendors) -> Action:
    action = approved(cast, ISSUE)
    vendors["github"].faults.append(BY_NAME["drop before the effect"])
    return carried_out(action, cast, clock)


@pytest.mark.parametrize(("happened", "status"), [(True, "done"), (False, "failed")])
def test_a_person_settles_what_nobody_knows(cast: Cast, clock, vendors, happened: bool, status: str) -> None:
    action = in_doubt(cast, clock, vendors)
    settled = settle_action(cast.approver, action.uid, happened=happened)
    assert (settled.status, settled.doubt) == (status, "")
    [attempt] = Attempt.objects.filter(action=action)
    assert (attempt.settled_by_id, attempt.outcome) == (
        cast.approver.user_id,
        "sent" if happened else "not_sent",
    )
    with pytest.raises(Conflict):
        settle_action(cast.approver, action.uid, happened=not happened)
    work_off()
    assert len(vendors["github"].made) == 0


@pytest.mark.parametrize("who", ["agent", "teammate", "viewer", "admin"])
def test_only_who_may_decide_settles(cast: Cast, clock, vendors, who: str) -> None:
    action = in_doubt(cast, clock, vendors)
    with pytest.raises(Forbidden):
        settle_action(getattr(cast, who), action.uid, happened=True)
    with pytest.raises(Forbidden):
        look_again(getattr(cast, who), action.uid)


def test_what_turns_up_late_is_found_when_one_looks_again(cast: Cast, clock, vendors) -> None:
    action = in_doubt(cast, clock, vendors)
    vendors["github"].make(CONNECTORS[ISSUE].call(action.current.payload, action.uid).body)
    look_again(cast.approver, action.uid)
    assert carried_out(action, cast, clock).status == "done"


@EVERY
def test_an_agent_can_neither_claim_nor_finish_what_our_worker_carries_out(
    cast: Cast, clock, vendors, name: str
) -> None:
    action = approved(cast, name)
    for start, to in (("approved", "executing"), ("executing", "done"), ("executing", "failed")):
        with pytest.raises(HubError):
            transition_action(cast.agent, action.uid, start, to)
    assert now(action, cast).status == "approved"


def test_approving_writes_the_job_in_the_same_transaction(cast: Cast, vendors) -> None:
    action = approved(cast, ISSUE)
    [job] = Job.objects.filter(lane=ACTIONS.name, kind=RUN)
    assert (job.object_id, job.run_after) == (action.id, timezone.now() + timedelta(seconds=10))
    assert not hasattr(job, "payload")


def test_a_connection_to_another_account_there_makes_pending_ones_anew(cast: Cast, vendors) -> None:
    connected(cast.owner, ISSUE)
    action = prepared(cast, ISSUE)
    connect(cast.owner, "github", vendors["github"].token)
    work_off()
    assert now(action, cast).revision == action.revision + 1
    assert ActionRevision.objects.filter(action=action).count() == 2
