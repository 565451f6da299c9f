"""Paths that name a place of their own: `projects/<slug>/…` is in the space of that slug, and `teams/<slug>/…`
belongs to the whole account of that slug. Every other path is in the space of the call."""

from dataclasses import dataclass

from accounts.actor import Actor
from accounts.models import Account
from accounts.scopes import Right
from memoryhub.common.errors import Forbidden, ValidationFailed
from spaces.domain.access import SLUG, require_right
from spaces.domain.spaces import TAKEN_SLUGS, create_space
from spaces.models import Space

PROJECTS, TEAMS = "projects", "teams"


@dataclass(frozen=True)
class Bound:
    """Where a path leads: to a `project`, to the account as a whole, or to the space of the call.

    `missing` says that the path names a project that isn't there for this actor.
    """

    project: Space | None = None
    account_wide: bool = False
    missing: bool = False


def bind_path(actor: Actor, path: str, *, create: bool = False) -> Bound:
    """For writing. Forbidden for a project that the actor may only read, and for a team it is no member of."""
    root, _, rest = path.strip().lower().partition("/")
    slug = rest.partition("/")[0]
    if root == TEAMS and slug:
        _check_member(actor, slug)
        return Bound(account_wide=True)
    if root != PROJECTS or not slug:
        return Bound()
    project = project_of(actor, path)
    if project is not None:
        require_right(actor, project, Right.WRITE)
    elif create:
        project = _create(actor, slug)
    return Bound(project, missing=project is None)


def project_of(actor: Actor, path: str) -> Space | None:
    """The space that a path below `projects/` names, if the actor reads it."""
    root, _, rest = path.strip().strip("/").lower().partition("/")
    slug = rest.partition("/")[0]
    return Space.objects.visible_to(actor).filter(slug=slug).first() if root == PROJECTS and slug else None


def _check_member(actor: Actor, slug: str) -> None:
    if not Account.objects.filter(id=actor.account_id, slug=slug).exists():
        raise Forbidden("Paths below teams/ are for members of that team, and you are in none of that name.")


def _create(actor: Actor, slug: str) -> Space:
    if not SLUG.fullmatch(slug):
        raise ValidationFailed(
            {"path": ["A new project's name has only letters, digits, `-` and `_`, and begins with no sign."]}
        )
    if actor.space_ids is not None or not actor.has(Right.MANAGE):
        raise Forbidden(
            "Creating a project needs the role owner or admin, and a key that is open to new spaces."
        )
    if slug in TAKEN_SLUGS:
        raise ValidationFailed({"path": [f"A project can't be named {slug}: a page has that address."]})
    return create_space(actor, name=slug, slug=slug)
