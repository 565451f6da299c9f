"""Carrying out what was approved, by our own worker, at most once.

An attempt is committed as `unknown` before the call and told its outcome after. What certainly was not sent may be
tried again; what is unknown is looked for at the vendor, and if that finds nothing a person has to say what became
of it. It is never sent again blindly.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import system_actor
from accounts.domain import jobs
from accounts.domain.jobs import Wait
from accounts.models import Job
from actions.connectors import CONNECTORS, Call, Connector
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble, Unclear
from actions.connectors.client import send
from actions.domain.connections import note_health, note_use, tend_connection
from actions.domain.consent import ConsentBroken, check_claim, check_consent
from actions.domain.digests import consent_digest, is_same
from actions.domain.inbox import announce
from actions.domain.lane import ACTIONS, PREPARE, RUN, TEND
from actions.domain.notices.telling import tell
from actions.domain.preparing import prepare_action
from actions.domain.readiness import check_connected
from actions.domain.tokens import asking_by, is_due, renewed_token, token_of
from actions.domain.transitions import fail_unsent, transition_action
from actions.models import Action, Attempt, Connection, Outcome, Status
from memoryhub.common.errors import Conflict, HubError, NotConnected, PreconditionFailed
from memoryhub.common.tenancy import tenant

log = logging.getLogger(__name__)

MOST_TRIES = 5
RETRIES = tuple(timedelta(seconds=s) for s in (2, 10, 30, 120))
PAUSE = timedelta(seconds=30)
LOOK_AGAIN, LOOK_FOR = timedelta(seconds=20), timedelta(minutes=3)
CONFLICT = 409
MALFORMED = (LookupError, TypeError, AttributeError)
SIGNED_OUT = "The vendor does not accept the connection."
DOUBT = "It is not known whether this was sent, and the vendor shows no trace of it. Look there, then say."


@dataclass(frozen=True)
class Started:
    """An attempt that is committed. `again`: another worker began it, and nobody knows how far it came.
    `renewed`: its connection's token was, because the vendor didn't take the one before."""

    account_id: UUID
    action_id: UUID
    attempt_id: UUID
    connection: Connection | None
    again: bool = False
    renewed: bool = False


@dataclass(frozen=True)
class Ready:
    """Everything for the call, from the bytes that are stored."""

    connector: Connector
    connection: Connection
    token: str = field(repr=False)
    payload: dict[str, Any]
    marker: str

    @property
    def call(self) -> Call:
        return self.connector.call(self.payload, self.marker)


def work_off() -> int:
    """Deal with what is due. Answers how many jobs there were."""
    return jobs.work_off(ACTIONS, _handle)


def _handle(job: Job) -> Wait:
    return HANDLERS[job.kind](job.account_id, job.object_id) if job.object_id else None


def carry_out(account_id: UUID, action_id: UUID) -> Wait:
    """One step of an approved action. Answers when to come back, or None when there is nothing left to do."""
    with tenant(account_id):
        begun = _begin(account_id, action_id)
    if not isinstance(begun, Started):
        return begun
    if begun.again and not _may_repeat(begun):
        return _look(begun)
    return _send(begun)


def _begin(account_id: UUID, action_id: UUID) -> Started | Wait:
    rows = Action.objects.filter(account_id=account_id, id=action_id)
    if not rows.select_for_update(no_key=True).values_list("id"):
        return None
    action = rows.with_current().get()
    if action.status == Status.APPROVED:
        return _claim(action)
    return _go_on(action) if action.status == Status.EXECUTING else None


def _claim(action: Action) -> Started | Wait:
    try:
        check_consent(action)
        check_connected(action)
        transition_action(system_actor(action.account_id), action.uid, Status.APPROVED, Status.EXECUTING)
    except (ConsentBroken, NotConnected) as refusal:
        fail_unsent(action, refusal.message)
        return None
    except PreconditionFailed:
        return PAUSE
    except Conflict:  # its time is over
        return None
    return _attempt(action, 1)


def _go_on(action: Action) -> Started | Wait:
    last = (
        Attempt.objects.filter(account_id=action.account_id, action_id=action.id).order_by("-number").first()
    )
    if last is None or last.outcome == Outcome.UNKNOWN:
        return _started(action, last, again=True) if last else None
    if last.outcome != Outcome.NOT_SENT:
        return None
    if action.expires_at <= timezone.now():
        return _fail(action, "Its time was over.")
    try:
        check_claim(action, timezone.now())
        check_connected(action)
    except (ConsentBroken, NotConnected) as refusal:
        return _fail(action, refusal.message)
    except PreconditionFailed:
        return PAUSE
    return _attempt(action, last.number + 1)


def _attempt(action: Action, number: int) -> Started:
    attempt = Attempt.objects.create(
        account_id=action.account_id,
        space_id=action.space_id,
        action=action,
        number=number,
        revision=action.revision,
        digest=consent_digest(action, action.current),
        started_at=timezone.now(),
    )
    return _started(action, attempt)


def _started(action: Action, attempt: Attempt, *, again: bool = False) -> Started:
    return Started(action.account_id, action.id, attempt.id, action.current.connection, again)


def _send(begun: Started) -> Wait:
    try:
        begun = _tend(begun)
        with tenant(begun.account_id):
            ready = _last_look(begun)
    except SignedOut as trouble:
        return _not_sent(begun, trouble.reason, SIGNED_OUT)
    except NotSent as trouble:
        return PAUSE if begun.again else _try_again(begun, trouble)
    except PreconditionFailed:
        return PAUSE if begun.again else _ended(begun, Outcome.NOT_SENT, "held back", wait=PAUSE)
    except HubError as refusal:
        return _not_sent(begun, refusal.code, refusal.message)
    try:
        answer = send(ready.connector.service, ready.token, ready.call)
        receipt = ready.connector.receipt(answer.body)
    except SignedOut as trouble:
        return _signed_out(begun, ready, trouble)
    except NotSent as trouble:
        return PAUSE if begun.again else _try_again(begun, trouble)
    except Refused as trouble:
        if ready.connector.repeatable and trouble.status == CONFLICT:
            return _look(begun)
        said = f"The vendor said no: {trouble.reason}."
        return _not_sent(begun, trouble.reason, said, outcome=Outcome.REFUSED)
    except (Unclear, *MALFORMED):
        return LOOK_AGAIN
    return _ended(begun, Outcome.SENT, receipt=receipt)


def _tend(begun: Started) -> Started:
    """Before the last look, so that nothing is waited for between that and the call."""
    if begun.renewed or begun.connection is None or not is_due(begun.connection):
        return begun
    renewed_token(begun.connection)
    return replace(begun, renewed=True)


def _signed_out(begun: Started, ready: Ready, trouble: SignedOut) -> Wait:
    """The vendor did nothing. With another token it may, once."""
    try:
        if not begun.renewed:
            renewed_token(ready.connection)
            return _send(replace(begun, renewed=True))
    except SignedOut:
        pass
    except NotSent as later:
        return PAUSE if begun.again else _try_again(begun, later)
    _note(begun, ready, trouble)
    return _not_sent(begun, trouble.reason, SIGNED_OUT)


def _not_sent(begun: Started, reason: str, said: str, *, outcome: Outcome = Outcome.NOT_SENT) -> Wait:
    """This call did nothing. Whether the one of a worker that is gone did, only the vendor knows."""
    return _look(begun) if begun.again else _ended(begun, outcome, reason, failed=said)


def _last_look(begun: Started) -> Ready:
    """Just before the call, and apart from what claimed it: all that is stored, against every approval."""
    action = _read(begun)
    attempt = Attempt.objects.get(account_id=begun.account_id, id=begun.attempt_id)
    check_connected(action)
    check_claim(action, timezone.now())
    if action.status != Status.EXECUTING or attempt.outcome != Outcome.UNKNOWN:
        raise Conflict("It was settled meanwhile.")
    if not is_same(attempt.digest, consent_digest(action, action.current)):
        raise ConsentBroken("What is stored is not what was claimed.")
    return _ready(action)


def _ready(action: Action) -> Ready:
    connection = action.current.connection
    assert connection is not None
    connector = CONNECTORS[action.class_name]
    return Ready(connector, connection, token_of(connection), action.current.payload, action.uid)


def _look(begun: Started) -> Wait:
    """Find at the vendor what came of an attempt that nobody knows of."""
    with tenant(begun.account_id):
        action = _read(begun)
        if action.current.connection is None or action.current.connection.revoked_at:
            return _leave_to_people(begun)
        ready = _ready(action)
    try:
        ask = asking_by(ready.connection, ready.connector.service)
        found = ready.connector.find(ask, ready.payload, ready.marker)
    except (Trouble, *MALFORMED) as trouble:
        log.warning("looking for action %s failed: %s", begun.action_id, type(trouble).__name__)
        found = None
    if found is not None:
        return _ended(begun, Outcome.SENT, receipt={**found, "found_afterwards": True})
    return _look_again(begun)


def _look_again(begun: Started) -> Wait:
    with tenant(begun.account_id):
        attempt = Attempt.objects.get(account_id=begun.account_id, id=begun.attempt_id)
        if timezone.now() - attempt.started_at < LOOK_FOR:
            return LOOK_AGAIN
        return _leave_to_people(begun)


def _leave_to_people(begun: Started) -> Wait:
    rows = Action.objects.filter(account_id=begun.account_id, id=begun.action_id, status=Status.EXECUTING)
    news = rows.filter(doubt="").exists()
    if rows.update(doubt=DOUBT, updated_at=timezone.now()):
        action = _read(begun)
        if news:
            tell(system_actor(begun.account_id), action, "action.in_doubt")
        announce(action.space_id, begun.account_id)
    return None


def _try_again(begun: Started, trouble: NotSent) -> Wait:
    """Within its expiry and so many times; later each time, or when the vendor says."""
    with tenant(begun.account_id):
        action = _read(begun)
        number = Attempt.objects.get(account_id=begun.account_id, id=begun.attempt_id).number
    wait = timedelta(seconds=trouble.retry_after) if trouble.retry_after else _later(number)
    if number >= MOST_TRIES or timezone.now() + wait >= action.expires_at:
        return _ended(begun, Outcome.NOT_SENT, trouble.reason, failed=f"Not sent: {trouble.reason}.")
    return _ended(begun, Outcome.NOT_SENT, trouble.reason, wait=wait)


def _later(number: int) -> timedelta:
    return RETRIES[min(number, len(RETRIES)) - 1] * random.uniform(0.8, 1.3)  # noqa: S311 (spreads load)


def _ended(
    begun: Started,
    outcome: Outcome,
    reason: str = "",
    *,
    receipt: dict[str, Any] | None = None,
    failed: str = "",
    wait: Wait = None,
) -> Wait:
    """Keep what became of an attempt, and with it how the action ended; `wait` keeps it going."""
    with tenant(begun.account_id):
        _lock(begun)
        unknown = Attempt.objects.filter(
            account_id=begun.account_id, id=begun.attempt_id, outcome=Outcome.UNKNOWN
        )
        if not unknown.update(outcome=outcome, reason=reason[:80], receipt=receipt, ended_at=timezone.now()):
            return None
        if wait is not None:
            return wait
        if outcome == Outcome.SENT and begun.connection:
            note_use(begun.connection)
        conclude(_read(begun), receipt=receipt, failed=failed)
    return None


def conclude(action: Action, *, receipt: dict[str, Any] | None = None, failed: str = "") -> None:
    """End an action that is being carried out, unless a person has ended it meanwhile, or it isn't ours to end any
    more because somebody altered it."""
    to = Status.FAILED if failed else Status.DONE
    system = system_actor(action.account_id)
    Action.objects.filter(account_id=action.account_id, id=action.id).update(doubt="")
    try:
        transition_action(system, action.uid, Status.EXECUTING, to, receipt=receipt, reason=failed)
    except HubError:
        log.warning("action %s could not be ended: it is not where it was", action.id)


def _fail(action: Action, reason: str) -> Wait:
    conclude(action, failed=reason)
    return None


def _note(begun: Started, ready: Ready, trouble: Trouble) -> None:
    with tenant(begun.account_id):
        note_health(ready.connection, trouble.reason)


def _may_repeat(begun: Started) -> bool:
    with tenant(begun.account_id):
        action = _read(begun)
        return CONNECTORS[action.class_name].repeatable and action.expires_at > timezone.now()


def _lock(begun: Started) -> None:
    """The action's row before its attempt's, as a person who settles it takes them."""
    rows = Action.objects.filter(account_id=begun.account_id, id=begun.action_id)
    rows.select_for_update(no_key=True).values_list("id").first()


def _read(begun: Started) -> Action:
    return Action.objects.filter(account_id=begun.account_id, id=begun.action_id).with_current().get()


HANDLERS: dict[str, Callable[[UUID, UUID], Wait]] = {
    RUN: carry_out,
    PREPARE: prepare_action,
    TEND: tend_connection,
}
