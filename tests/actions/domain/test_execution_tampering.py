"""What is altered behind our back, between an approval and the call: nothing of it is ever sent."""

from typing import Any

import pytest

from actions.domain.action_kind import ACTIONS
from actions.domain.actions import list_actions
from actions.domain.execution import work_off
from actions.domain.inbox import list_inbox
from actions.domain.policies.rules import Draft, backtest
from actions.domain.review import review_action
from actions.models import Action, Attempt
from memoryhub.common.errors import Conflict
from memoryhub.common.tenancy import tenant
from tests.actions.stage import propose
from tests.calls import as_owner
from tests.conftest import Cast
from tests.vendors.faults import BY_NAME
from tests.vendors.server import Vendor
from tests.vendors.stage import UNDO, approved

pytestmark = pytest.mark.django_db(transaction=True)

ACTION = "update actions_action set {change} where id = '{id}'"
REVISION = "update actions_actionrevision set {change} where action_id = '{id}'"
APPROVAL = "update actions_approval set {change} where action_id = '{id}'"
OTHER = "payload_json = replace(payload_json, 'breaks', 'broke')"

TAMPERS = {
    "the payload": (REVISION, OTHER),
    "payload and digest": (REVISION, f"{OTHER}, digest = repeat('0', 64)"),
    "the expiry": (ACTION, "expires_at = expires_at + interval '1 day'"),
    "the class": (ACTION, "class_name = 'slack.send'"),
    "the preconditions": (REVISION, """preconditions_json = '{"ask":"nobody"}'"""),
    "which revision": (ACTION, "revision = 2"),
    "the revision's number": (REVISION, "number = 2"),
    "the approval's digest": (APPROVAL, "digest = repeat('1', 64)"),
    "no approval": ("delete from actions_approval where action_id = '{id}'", ""),
    "a voided approval": (APPROVAL, "voided_at = decided_at"),
    "a rejection": (APPROVAL, "decision = 'reject'"),
    "whose account it is": (
        "update actions_connection set vendor_ref = '42' where id in"
        " (select connection_id from actions_actionrevision where action_id = '{id}')",
        "",
    ),
    "no connection": (REVISION, "connection_id = null"),
    "the executor": (ACTION, "executor = 'agent'"),
}


def tamper(action: Action, what: str) -> None:
    template, change = TAMPERS[what]
    as_owner(template.replace("{change}", change).replace("{id}", str(action.id)))


@pytest.mark.parametrize("when", ["before the claim", "after a first try"])
def test_what_was_tampered_with_after_the_approval_is_never_sent(
    cast: Cast, clock: Any, vendors: dict[str, Vendor], when: str
) -> None:
    """14 ways, each before the claim and between two tries."""
    vendor, left = vendors["github"], {}
    for what in TAMPERS:
        with tenant(cast.account.id):
            action = approved(cast, "github.create_issue")
        if when == "after a first try":
            vendor.faults.append(BY_NAME["too many requests"])
            clock.shift(UNDO)
            work_off()
            with tenant(cast.account.id):
                assert [a.outcome for a in Attempt.objects.filter(action=action)] == ["not_sent"]
        tamper(action, what)
        clock.shift(UNDO)
        for _ in range(3):
            work_off()
            clock.shift(40)
        with tenant(cast.account.id):
            left[what] = Action.objects.get(id=action.id).status
        as_owner(f"delete from accounts_job where object_id = '{action.id}'")
    assert vendor.made == []
    not_ours = {"the executor": "executing"} if when == "after a first try" else {}
    assert left == {**dict.fromkeys(TAMPERS, "failed"), **not_ours}
    print(f"{len(TAMPERS)} tampers {when}: 0 sent")


def test_one_whose_words_are_gone_takes_nothing_else_along(
    cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    """It is in no list any more, and says what is wrong where it is asked for by its id."""
    with tenant(cast.account.id):
        lost, other = (propose(cast.agent).action for _ in range(2))
    assert as_owner(REVISION.format(change="number = 2", id=lost.id)) == 1
    with tenant(cast.account.id):
        assert [action.id for action in list_inbox(cast.approver).items] == [other.id]
        assert [action.id for action in list_actions(cast.agent)] == [other.id]
        assert backtest(cast.owner, Draft(name="All", effect="require", class_name="chat.send")).matched == 1
        assert [row["id"] for row in ACTIONS.export(cast.owner, cast.space)] == [f"A{other.number}"]
        with pytest.raises(Conflict, match="not stored any more"):
            review_action(cast.approver, lost.uid)
    assert lost.uid in caplog.text
