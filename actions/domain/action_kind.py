"""How actions leave: what was proposed, each revision of it, who decided what on it, and each call that was made.

They don't arrive anywhere: nobody there has agreed to them.
"""

from collections.abc import Iterator

from accounts.actor import Actor
from actions.domain.describe import describe
from actions.models import Action, ActionRevision, Approval, Attempt, whole
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kept, Kind, Row, in_batches, register_kind
from spaces.models import Space


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    """Every action belongs to a space."""
    if space is not None:
        actions = Action.objects.inside(space).with_current()
        found = in_batches(actions.prefetch_related("revisions", "approvals", "attempts"))
        yield from map(_row, whole(found))


def _row(action: Action) -> Row:
    return {
        **describe(action),
        "executor": action.executor,
        "proposer": action.proposer,
        "proposer_name": action.proposer_name,
        "snoozed_until": format_time(action.snoozed_until) if action.snoozed_until else None,
        "doubt": action.doubt,
        "session": action.session,
        "claimed_by": action.claimed_by,
        "revisions": [_revision(r) for r in sorted(action.revisions.all(), key=lambda r: r.number)],
        "approvals": [_approval(a) for a in sorted(action.approvals.all(), key=lambda a: a.decided_at)],
        "attempts": [_attempt(a) for a in sorted(action.attempts.all(), key=lambda a: a.number)],
    }


def _revision(revision: ActionRevision) -> Row:
    return {
        "number": revision.number,
        "summary": revision.summary,
        "payload": revision.payload,
        "preconditions": revision.preconditions,
        "digest": revision.digest,
        "written_by": revision.written_by,
        "created_at": format_time(revision.created_at),
        "expires_at": format_time(revision.expires_at),
    }


def _approval(approval: Approval) -> Row:
    return {
        "revision": approval.revision,
        "digest": approval.digest,
        "person": typed_id("usr", approval.user_id),
        "decision": approval.decision,
        "reason": approval.reason,
        "decided_at": format_time(approval.decided_at),
        "voided_at": format_time(approval.voided_at) if approval.voided_at else None,
    }


def _attempt(attempt: Attempt) -> Row:
    return {
        "number": attempt.number,
        "revision": attempt.revision,
        "digest": attempt.digest,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "receipt": attempt.receipt,
        "started_at": format_time(attempt.started_at),
        "ended_at": format_time(attempt.ended_at) if attempt.ended_at else None,
    }


ACTIONS = register_kind(
    Kind(
        prefix="act",
        model_label="actions.Action",
        export=export,
        kept=(
            Kept("actions.Action", names=("meta", "receipt", "reason")),
            Kept("actions.ActionRevision", names=("summary", "payload_json", "preconditions_json")),
        ),
    )
)
