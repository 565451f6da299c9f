"""Everything that the page of an action shows, read in one go."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from accounts.actor import Actor
from actions.domain.actions import access_action
from actions.domain.consent import paused_in
from actions.domain.digests import consent_content, consent_digest, is_intact
from actions.domain.history import Line, history
from actions.domain.moves import moves_open_to
from actions.domain.preconditions import Check, check_preconditions
from actions.domain.preview import Preview, preview, tell_time
from actions.models import Action
from memoryhub.common.times import zone


@dataclass(frozen=True)
class Review:
    """`digest` is of what is shown here, to be sent back with an approval, and `content` is what it is over.

    `intact` False: what is stored is no longer what was proposed, and can't be approved. `moves` are the
    statuses that the actor could bring it to now. `paused` is "account", "space" or "".
    """

    action: Action
    status: str
    stale: bool
    digest: str
    content: str
    intact: bool
    preview: Preview
    checks: list[Check]
    history: list[Line]
    moves: list[str]
    expires: str
    paused: str


def review_action(actor: Actor, id: str) -> Review:
    action = access_action(actor, id)
    return review(actor, action, timezone.now())


def review(actor: Actor, action: Action, now: datetime) -> Review:
    revision, where = action.current, zone(action.space.time_zone)
    return Review(
        action=action,
        status=action.status_at(now),
        stale=action.is_stale(now),
        digest=consent_digest(action, revision),
        content=consent_content(action, revision).decode(),
        intact=is_intact(action, revision),
        preview=preview(revision.payload, where),
        checks=check_preconditions(action.space, revision.preconditions, now),
        history=history(action),
        moves=moves_open_to(actor, action),
        expires=tell_time(action.expires_at, where),
        paused=paused_in(action),
    )
