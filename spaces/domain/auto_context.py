"""Auto-context: while it is on, an answer is accompanied by what is remembered of what the call was about.

A server can't see what a person said to an agent; what the agent asks for is the next best.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db import connection, transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.scopes import Scope
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.tenancy import tenant
from memoryhub.common.text import excerpt
from spaces.domain.memories.recalling import find_memories
from spaces.domain.memories.remembering import remember
from spaces.domain.memories.sessions import current_session
from spaces.domain.search.filters import TRACE
from spaces.domain.search.ranking import Candidate
from spaces.models import AutoContext, Memory
from spaces.models.auto_context import MOST_MEMORIES

T = TypeVar("T")
log = logging.getLogger(__name__)

LOOKED_AT = 20
"""Of the best found, which need not be the most relevant ones."""
LONGEST_QUESTION = 2_000
LONGEST_TRACE = 200
FORGOTTEN_AFTER = timedelta(days=30)
"""Sessions end without a word."""


@dataclass(frozen=True)
class Config:
    enabled: bool = False
    max_memories: int = 5
    min_relevance: float = 0.6
    auto_trace: bool = False


OFF = Config()

# By hand: every call of the family ends with it, and built by the ORM it would cost more than it takes.
LOOK_UP = """
    select enabled, max_memories, min_relevance, auto_trace from spaces_autocontext
     where account_id = %s and credential = %s and session = %s
"""


@dataclass(frozen=True)
class Relevant:
    """`relevance` is 0 to 1, and 0.6 or more means relevant."""

    memory: Memory
    relevance: float


@dataclass(frozen=True)
class Accompaniment:
    query: str
    memories: list[Relevant]


@transaction.atomic
def configure(actor: Actor, config: Config) -> Config:
    """For this credential's current session."""
    if not 1 <= config.max_memories <= MOST_MEMORIES:
        raise ValidationFailed({"max_memories": [f"Must be between 1 and {MOST_MEMORIES}."]})
    now = timezone.now()
    own: dict[str, Any] = {"account_id": actor.account_id, "credential": actor.key}
    AutoContext.objects.filter(**own, updated_at__lt=now - FORGOTTEN_AFTER).delete()
    AutoContext.objects.update_or_create(
        **own, session=current_session(actor), defaults={**config.__dict__, "updated_at": now}
    )
    return config


def config_of(actor: Actor) -> Config:
    with connection.cursor() as cursor:
        cursor.execute(LOOK_UP, [actor.account_id, actor.key, current_session(actor)])
        row = cursor.fetchone()
    return Config(*row) if row else OFF


def accompanied(actor: Actor, tool: str, about: str, act: Callable[[], T]) -> tuple[T, Accompaniment | None]:
    """What `act` does inside the account; and, where this session wants it, what is remembered of `about`.

    Called outside of any transaction: `about` becomes a vector in between. A failure of that never fails the call.
    """
    with tenant(actor.account_id):
        done = act()
        config = config_of(actor)
    try:
        return done, _accompaniment(actor, tool, about, config)
    except Exception as fault:
        log.warning("A call of %s goes without its context: %s", tool, type(fault).__name__)
        return done, None


def context_for(actor: Actor, message: str, config: Config) -> Accompaniment:
    """The memories that are relevant to a message, the most relevant first."""
    found = find_memories(actor, message[:LONGEST_QUESTION], limit=LOOKED_AT)
    weighed = [
        Relevant(memory, _relevance(found.reasons[memory.id])) for memory in found.page.items if found.reasons
    ]
    relevant = [one for one in weighed if one.relevance >= config.min_relevance]
    best = sorted(relevant, key=lambda one: -one.relevance)[: config.max_memories]
    return Accompaniment(message, best)


def read_config(actor: Actor) -> Config:
    """As `config_of`, for who has not opened the account."""
    with tenant(actor.account_id):
        return config_of(actor)


def _accompaniment(actor: Actor, tool: str, about: str, config: Config) -> Accompaniment | None:
    if not config.enabled:
        return None
    if config.auto_trace and Scope.MEMORY_WRITE in actor.scopes:
        _trace(actor, tool, about)
    if Scope.MEMORY_READ not in actor.scopes:
        return None
    return context_for(actor, about, config) if about.strip() else Accompaniment("", [])


def _trace(actor: Actor, tool: str, about: str) -> None:
    """A short note of the call, which the next days clear away."""
    said = f"{tool}: {excerpt(' '.join(about.split()), LONGEST_TRACE)}" if about.strip() else tool
    with tenant(actor.account_id):
        remember(actor, text=said, kind="note", tags=[TRACE], tier="scratch", importance=0.1)


def _relevance(reason: Candidate) -> float:
    """By meaning; while there is no vector, by how much of the question's words it has."""
    return reason.words if reason.similarity is None else reason.similarity
