"""Proposing: what is checked before people are asked, and how a repeated proposal is known."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from accounts.scopes import Right
from actions.connectors import CONNECTORS
from actions.domain.actions import access_action
from actions.domain.connections import connection_for
from actions.domain.digests import consent_digest, proposal_hash
from actions.domain.inbox import announce
from actions.domain.lane import ACTIONS, PREPARE
from actions.domain.notices.telling import tell
from actions.domain.policies.applying import check_not_denied
from actions.domain.preconditions import read_preconditions
from actions.domain.transitions import apply_rules
from actions.models import Action, ActionRevision, Status
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import IdempotencyConflict, PayloadTooLarge, ValidationFailed
from memoryhub.common.secrets import cut
from memoryhub.common.secrets.policy import check_always
from memoryhub.common.text import is_blank, nfc
from memoryhub.common.times import parse_due, zone
from spaces.domain.access import access_space
from spaces.models import Space

CLASS = re.compile(r"[a-z0-9_.-]{1,64}")
CLASS_FORM = "Must be 1 to 64 of the characters a-z 0-9 _ . -"
SUMMARY, KEY = 500, 200
PAYLOAD_BYTES = 32 * 1024
NORMALISED_BYTES = 128 * 1024
EXTRA_BYTES = 16 * 1024
DEFAULT_LIFE, LONGEST_LIFE = timedelta(hours=72), timedelta(days=30)
EXPIRE = "expire_action"


@dataclass(frozen=True)
class Proposal:
    """`created` False: this was proposed before, and `action` is that one, as it stands now."""

    action: Action
    created: bool

    @property
    def warnings(self) -> list[str]:
        """What keeps a person from approving it as it is."""
        connection = self.action.current.connection
        missing = self.action.executor == "worker" and (connection is None or connection.revoked_at)
        return ["not_connected"] if missing and self.action.status == Status.PENDING else []


def propose_action(
    actor: Actor,
    *,
    class_name: str,
    summary: str,
    payload: dict[str, Any],
    idempotency_key: str,
    preconditions: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
    expires_at: str | None = None,
) -> Proposal:
    """Put an action before the people of the actor's space.

    A payload of a connector's class is brought into that class's form before it is stored.
    The same key with the same class and payload answers the action there is, whatever became of it; the rest
    of the call is then not looked at. `expires_at` without an offset is in the space's time zone.
    """
    space = access_space(actor, right=Right.WRITE)
    key, content = check_key(idempotency_key), check_content(class_name, payload)
    with transaction.atomic():
        space = lock_space(space)
        if existing := find_proposal(space, key):
            return repeat(existing, content)
        payload = normalised(class_name, payload, zone(space.time_zone))
        check_not_denied(space, class_name, payload)
        action = Action(
            account_id=actor.account_id,
            space=space,
            number=space.next_action,
            class_name=class_name,
            idempotency_key=key,
            content=content,
            meta=check_size(meta or {}, "meta", EXTRA_BYTES),
            expires_at=read_expiry(expires_at, space),
            executor="worker" if class_name in CONNECTORS else "agent",
            **proposed_by(actor),
        )
        add_action(actor, action, summary, payload, preconditions or {})
        apply_rules(action.account_id, action.id)
    return Proposal(access_action(actor, action.uid), created=True)


def check_key(key: str) -> str:
    key = nfc(key)
    if is_blank(key) or len(key) > KEY:
        raise ValidationFailed({"idempotency_key": [f"Must have 1 to {KEY} characters."]})
    return key


def check_content(class_name: str, payload: dict[str, Any]) -> bytes:
    """The hash by which a repeated proposal is known."""
    if not CLASS.fullmatch(class_name):
        raise ValidationFailed({"class": [CLASS_FORM]})
    check_size(payload, "payload", PAYLOAD_BYTES)
    return proposal_hash(class_name, payload)


def normalised(class_name: str, payload: dict[str, Any], where: ZoneInfo) -> dict[str, Any]:
    """As it is kept, shown, hashed and sent; a class that no connector of ours has keeps what was given.

    A secret in it is refused, however it came here: nothing that is sent outside is altered.
    """
    check_always(cut(payload), whole=True)
    if (connector := CONNECTORS.get(class_name)) is None:
        return payload
    return check_size(connector.normalise(payload, where), "payload", NORMALISED_BYTES)


def schema_version(class_name: str) -> int:
    connector = CONNECTORS.get(class_name)
    return connector.version if connector else 1


def check_size(value: dict[str, Any], field: str, limit: int) -> dict[str, Any]:
    if (size := len(canonical_json(value))) > limit:
        raise PayloadTooLarge(
            f"{field}: Must be at most {limit} bytes of JSON; this is {size}. Shorten it.",
            field=field,
            limit=limit,
        )
    return value


def check_summary(summary: str) -> str:
    if is_blank(summary) or len(summary) > SUMMARY:
        raise ValidationFailed({"summary": [f"Must have 1 to {SUMMARY} characters that can be seen."]})
    return summary


def read_expiry(given: str | None, space: Space) -> datetime:
    """A date alone lasts to the end of that day in the space."""
    now = timezone.now()
    at = parse_due(given, zone(space.time_zone), "expires_at").at if given else now + DEFAULT_LIFE
    if not now < at <= now + LONGEST_LIFE:
        raise ValidationFailed({"expires_at": [f"Must be in the next {LONGEST_LIFE.days} days."]})
    return at


def lock_space(space: Space) -> Space:
    """Proposals in a space come one at a time: each gets the next number, and none is made twice."""
    return Space.objects.select_for_update(no_key=True).get(account_id=space.account_id, id=space.id)


def find_proposal(space: Space, key: str) -> Action | None:
    return Action.objects.inside(space).filter(idempotency_key=key).with_current().first()


def repeat(existing: Action, content: bytes) -> Proposal:
    if bytes(existing.content) != content:
        raise IdempotencyConflict(
            f"This idempotency_key was used for {existing.short_id} with another class or payload. "
            "Send a new key to propose something else.",
            action=existing.short_id,
        )
    return Proposal(existing, created=False)


def proposed_by(actor: Actor) -> dict[str, Any]:
    """The credential that proposes, which none can choose, and what the client says of itself."""
    said = actor.attribution
    return {
        "proposer": actor.key,
        "proposer_name": actor.name[:200],
        "agent": said.agent,
        "session": said.session,
    }


def add_action(
    actor: Actor, action: Action, summary: str, payload: dict[str, Any], preconditions: dict[str, Any]
) -> None:
    """Store it with its first revision, under the lock of its space. `payload` is in its class's form."""
    action.created_at = action.updated_at = timezone.now()
    check_always(cut(preconditions), whole=True)
    read = read_preconditions(preconditions, zone(action.space.time_zone))
    revision = ActionRevision(
        account_id=action.account_id,
        space_id=action.space_id,
        action=action,
        number=action.revision,
        summary=check_summary(summary),
        schema_version=schema_version(action.class_name),
        connection=connection_for(action.account_id, action.class_name),
        payload_json=canonical_json(payload).decode(),
        preconditions_json=canonical_json(check_size(read, "preconditions", EXTRA_BYTES)).decode(),
        expires_at=action.expires_at,
        written_by=actor.key,
        created_at=action.created_at,
    )
    revision.digest = consent_digest(action, revision)
    action.save(force_insert=True)
    revision.save(force_insert=True)
    Space.objects.filter(account_id=action.account_id, id=action.space_id).update(
        next_action=action.number + 1
    )
    tell(actor, action, "action.proposed")
    enqueue(EXPIRE, action.account_id, action.id, run_after=action.expires_at)
    if revision.connection and CONNECTORS[action.class_name].unresolved(revision.payload):
        enqueue(PREPARE, action.account_id, action.id, lane=ACTIONS)
    announce(action.space_id, action.account_id)
