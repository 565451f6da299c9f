"""Memories of a session: those that live with it, and those that outlive it.

A session is a name that a client gives its conversation. It is a label, and no reason to allow anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q

from accounts.actor import Actor
from accounts.scopes import Right
from memoryhub.common.errors import ValidationFailed
from spaces.domain.access import access_space
from spaces.domain.memories.erasing import erase_memories
from spaces.domain.memories.fields import Statement
from spaces.domain.memories.remembering import Remembered, remember
from spaces.domain.search.filters import NO_TRACE
from spaces.models import Memory, Space
from spaces.models.memories import MemoryQuerySet

PROMOTED_FROM = 0.8
PROMOTING = ("permanent", "important")
MOST_FACTS = 10
MOST_TAGS, LONGEST_TAG = 20, 50


@dataclass(frozen=True)
class SessionContext:
    """`session` "" is what a credential says outside of any session."""

    session: str
    memories: list[Memory]
    key_facts: list[Memory]


@dataclass(frozen=True)
class Cleared:
    session: str
    deleted: int
    kept: int


def current_session(actor: Actor, named: str = "") -> str:
    """The one that the call names, else that of the request; "" where there is none."""
    return (named or actor.attribution.session).strip()


def remember_in_session(
    actor: Actor, text: str, *, metadata: Mapping[str, Any], importance: float
) -> Remembered:
    """`session_id` and `tags` in the metadata are the memory's own too.

    It lives with its session, unless its importance or a tag keeps it.
    """
    tags, session = _tags(metadata), current_session(actor, _session(metadata))
    promoted = importance >= PROMOTED_FROM or bool(set(PROMOTING) & set(tags))
    told: Statement = {"text": text, "importance": importance}
    if metadata:
        told |= {"metadata": dict(metadata), "tags": tags}
    if session:
        told |= {"session": session, "session_scoped": not promoted}
    return remember(actor, **told)


def session_context(actor: Actor, session: str = "", *, limit: int = 20) -> SessionContext:
    """The newest memories of the session, with its weightiest and those that are always in context."""
    name, rows = current_session(actor, session), _active(actor, access_space(actor))
    own = Q(session=name) if name else Q(session="", written_by=actor.key)
    weighty = own & (Q(importance__gte=PROMOTED_FROM) | Q(tags__overlap=list(PROMOTING)))
    facts = rows.filter(weighty | Q(tier="core") | Q(pinned=True))
    return SessionContext(
        session=name,
        memories=list(rows.filter(own).order_by("-created_at", "-id")[:limit]),
        key_facts=list(facts.order_by("-importance", "-created_at", "-id")[:MOST_FACTS]),
    )


@transaction.atomic
def clear_session(actor: Actor, session: str = "") -> Cleared:
    """What lives with the session goes for good, but for what is pinned."""
    name = current_session(actor, session)
    if not name:
        raise ValidationFailed({"session_id": ["Name a session: this request belongs to none."]})
    within = access_space(actor, right=Right.WRITE)
    rows = Memory.objects.inside(within).filter(session=name)
    ending = list(rows.filter(session_scoped=True, pinned=False).order_by("id").select_for_update())
    erase_memories(actor, "memory.deleted", ending)
    return Cleared(name, deleted=len(ending), kept=rows.active().count())


def _active(actor: Actor, space: Space) -> MemoryQuerySet:
    found: MemoryQuerySet = Memory.objects.active().visible_to(actor).reached_from(space).filter(NO_TRACE)
    return found


def _session(metadata: Mapping[str, Any]) -> str:
    value = metadata.get("session_id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _tags(metadata: Mapping[str, Any]) -> list[str]:
    """Those that can be tags; the metadata keep what else is there."""
    value = metadata.get("tags")
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    fitting = (tag.strip() for tag in listed if isinstance(tag, str))
    return [tag for tag in dict.fromkeys(fitting) if 0 < len(tag) <= LONGEST_TAG][:MOST_TAGS]
