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
from memoryhub.common.postgres.rows import Columns
from memoryhub.common.postgres.statements import row_of
from spaces.models import Space, SpaceMember
from spaces.models.scoped import Scoped
from spaces.models.spaces import sees_all

S = TypeVar("S", bound=Scoped)

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

# `visible_to` and `role_in` at once and by hand: every call of every tool begins here, and built by the ORM
# these two cost more than the rest of a small read. Without any name, the oldest space that the actor sees.
COLUMNS = Columns(Space)
LOOK_UP = f"""
    select {", ".join(f"s.{name}" for name in COLUMNS.names)}, m.role
      from spaces_space s
      left join spaces_spacemember m
        on m.account_id = s.account_id and m.space_id = s.id and m.user_id = %(person)s
     where s.account_id = %(account)s
       and (%(sees_all)s or s.visibility = 'account' or m.id is not null)
       and (%(listed)s::uuid[] is null or s.id = any(%(listed)s::uuid[]))
       and (%(unnamed)s or s.slug = %(slug)s or s.id = %(id)s)
     order by s.slug = %(slug)s desc nulls last, s.created_at, s.id
     limit 1
"""  # noqa: S608


def access_space(actor: Actor, ref: str | UUID | None = None, *, right: Right = Right.READ) -> Space:
    """The space named by `ref` (id or slug), else by the request's header, else the credential's default."""
    sought = _sought(actor, ref or actor.space_ref or actor.default_space_id)
    row = row_of(LOOK_UP, sought)
    if row is None:
        raise NotFound("space")
    *values, named_role = row
    _check_right(narrowed_role(actor, named_role), right, "in this space")
    return COLUMNS.read(values)


def _sought(actor: Actor, ref: str | UUID | None) -> dict[str, object]:
    slug = ref if isinstance(ref, str) and not ref.startswith("spc_") and SLUG.fullmatch(ref) else None
    return {
        "account": actor.account_id,
        "person": actor.user_id,
        "sees_all": sees_all(actor),
        "listed": None if actor.space_ids is None else list(actor.space_ids),
        "unnamed": ref is None,
        "slug": slug,
        "id": _id_in(ref, or_slug=slug is not None),
    }


def _id_in(ref: str | UUID | None, *, or_slug: bool) -> UUID | None:
    try:
        return parse_id("spc", ref) if ref is not None else None
    except NotFound:
        if or_slug:
            return None
        raise


def require_right(actor: Actor, space: Space | None, right: Right) -> None:
    """`space` None is the account as a whole."""
    _check_right(role_in(actor, space), right, "in this space" if space else "in this account")


def _check_right(role: Role, right: Right, where: str) -> None:
    if right not in ROLE_RIGHTS[role]:
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
