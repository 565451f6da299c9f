"""What a space wants done with a write that holds a secret."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.apps import apps

from accounts.actor import Actor
from memoryhub.common.errors import NotFound
from memoryhub.common.ids import parse_id
from memoryhub.common.secrets import Cut
from memoryhub.common.secrets.policy import REDACT, check_always, check_policy
from spaces.domain.access import access_space
from spaces.domain.kinds import all_kinds
from spaces.domain.projects import project_of
from spaces.models import Space


def secret_policy(actor: Actor, *, ref: str = "", row: str = "", path: str = "") -> str:
    """Of the space named, that of a row, or the project of a path; else of the one the call goes to. What is in
    none is redacted."""
    space = _named(actor, ref) or _of_row(actor, row) or project_of(actor, path) or _named(actor, None)
    return space.secret_policy if space else REDACT


def _named(actor: Actor, ref: str | UUID | None) -> Space | None:
    try:
        return access_space(actor, ref) if ref != "" else None
    except NotFound:
        return None


def _of_row(actor: Actor, id: str) -> Space | None:
    """Whatever kind of row it is."""
    for kind in all_kinds() if id else ():
        model: Any = apps.get_model(kind.model_label)
        with suppress(NotFound):
            rows = model.objects.filter(account_id=actor.account_id, id=parse_id(kind.prefix, id))
            if space_id := rows.values_list("space_id", flat=True).first():
                return _named(actor, space_id)
    return None


def check_secrets(cut: Cut, space: Space | None) -> None:
    """For what comes in another way than by an operation: refuses what may not be stored there."""
    check_always(cut)
    check_policy(cut, space.secret_policy if space else REDACT)
