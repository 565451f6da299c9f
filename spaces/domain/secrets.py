"""What a space wants done with a write that holds a secret."""

from uuid import UUID

from accounts.actor import Actor
from memoryhub.common.errors import NotFound
from memoryhub.common.secrets import Cut
from memoryhub.common.secrets.policy import REDACT, check_always, check_policy
from spaces.domain.access import access_space
from spaces.models import Space


def secret_policy(actor: Actor, ref: str | UUID | None = None) -> str:
    """Of the space named, else of the one the call goes to; what is in none is redacted."""
    try:
        return access_space(actor, ref).secret_policy
    except NotFound:
        return REDACT if ref is None else secret_policy(actor)


def check_secrets(cut: Cut, space: Space | None) -> None:
    """For what comes in another way than by an operation: refuses what may not be stored there."""
    check_always(cut)
    check_policy(cut, space.secret_policy if space else REDACT)
