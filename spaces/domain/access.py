"""May this actor touch that space? What it may not see is absent."""

import re
from collections.abc import Collection
from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet

from accounts.actor import Actor
from accounts.scopes import ROLE_RIGHTS, Right, Role
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import parse_id
from spaces.models import Space, SpaceMember
from spaces.models.scoped import Scoped

S = TypeVar("S", bound=Scoped)

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def access_space(actor: Actor, ref: str | UUID | None = None, *, right: Right = Right.READ) -> Space:
    """The space named by `ref` (id or slug), else by the request's header, else the credential's default."""
    named = ref or actor.space_ref or actor.default_space_id
    space = _find(actor, named) if named else _only_space(actor)
    if space is None:
        raise NotFound("space")
    require_right(actor, space, right)
    return space


def require_right(actor: Actor, space: Space | None, right: Right) -> None:
    """`space` None is the account as a whole."""
    if right not in ROLE_RIGHTS[role_in(actor, space)]:
        where = "in this space" if space else "in this account"
        raise Forbidden(f"Your role {where} does not allow this; it needs the right to {right}.")


def role_in(actor: Actor, space: Space | None) -> Role:
    """The role narrowed by the person's role in the space, where one is set."""
    if space is None or actor.user_id is None or actor.role in (Role.OWNER, Role.ADMIN):
        return actor.role
    named = SpaceMember.objects.filter(account_id=actor.account_id, space_id=space.id, user_id=actor.user_id)
    return narrowed_role(actor, named.values_list("role", flat=True).first())


def narrowed_role(actor: Actor, named: str | None) -> Role:
    """The actor's role in a space in which its person is named with that role, or isn't named."""
    if named is None or actor.role in (Role.OWNER, Role.ADMIN):
        return actor.role
    return narrower(actor.role, Role(named))


def narrower(account: Role, space: Role) -> Role:
    """A role in a space never gives more than the account's role does."""
    return space if ROLE_RIGHTS[space] <= ROLE_RIGHTS[account] else account


def access_rows(
    actor: Actor, rows: QuerySet[S], ids: Collection[UUID], noun: str, *, right: Right
) -> list[S]:
    """All of the rows with these ids, if each of them is among what the actor sees and allows it this."""
    found = list(rows.filter(id__in=ids).select_related("space")) if ids else []
    if len(found) < len(set(ids)):
        raise NotFound(noun)
    for space in {row.space_id: row.space for row in found}.values():
        require_right(actor, space, right)
    return found


def list_spaces(actor: Actor) -> list[Space]:
    return list(Space.objects.visible_to(actor).order_by("name", "id"))


def _find(actor: Actor, ref: str | UUID) -> Space | None:
    spaces = Space.objects.visible_to(actor)
    if isinstance(ref, str) and not ref.startswith("spc_") and SLUG.fullmatch(ref):
        match = spaces.filter(slug=ref).first()
        if match is not None:
            return match
    return spaces.filter(id=parse_id("spc", ref)).first()


def _only_space(actor: Actor) -> Space | None:
    """Without any name, the oldest space that the actor sees."""
    return Space.objects.visible_to(actor).order_by("created_at", "id").first()
