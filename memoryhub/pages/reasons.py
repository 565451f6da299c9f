"""Why somebody may do something in a space, or may not, in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from accounts.forms import ROLE_NAMES
from accounts.models import Membership
from accounts.scopes import ROLE_RIGHTS, Right, Role
from memoryhub.common.odd import visible
from spaces.domain.members import NAMED, NARROWED, NOT_NAMED, OPEN, SEES_ALL, Reach

RIGHT_NAMES: dict[Right, Promise] = {
    Right.READ: lazy("read"),
    Right.WRITE: lazy("write"),
    Right.DECIDE: lazy("decide"),
    Right.MANAGE: lazy("manage"),
    Right.EXPORT: lazy("export"),
    Right.DELETE_SPACE: lazy("delete it"),
}
REASONS = {
    SEES_ALL: lazy("Every owner and admin sees every space."),
    OPEN: lazy("The space is open to the whole team, and the role in the team holds."),
    NAMED: lazy("They are named in this space, with a role that takes nothing away."),
    NARROWED: lazy("They are named in this space, which narrows %(team)s to %(here)s."),
    NOT_NAMED: lazy("The space is for named people, and they aren't named."),
}


def reason(member: Membership, reach: Reach) -> str:
    here = ROLE_NAMES[reach.role] if reach.role else ""
    return str(REASONS[reach.because]) % {"team": ROLE_NAMES[Role(member.role)], "here": here}


def answer(member: Membership, reaches: list[Reach], space: str, right: str) -> str:
    """To "may X do Y in Z, and why?". "" where that isn't asked."""
    reach = next((reach for reach in reaches if reach.space.slug == space), None)
    if reach is None or right not in set(Right):
        return ""
    asked = Right(right)
    told = {
        "name": visible(member.user.get_full_name()),
        "right": RIGHT_NAMES[asked],
        "space": visible(reach.space.name),
        "reason": reason(member, reach),
        "role": ROLE_NAMES[reach.role] if reach.role else "",
        "roles": _those_with(asked),
    }
    if reach.role is None:
        return _("%(name)s may not %(right)s in %(space)s: they don’t see it. %(reason)s") % told
    if asked in reach.rights:
        return _("%(name)s may %(right)s in %(space)s, as %(role)s. %(reason)s") % told
    return (
        _(
            "%(name)s may not %(right)s in %(space)s: %(role)s doesn’t include it, that takes %(roles)s. %(reason)s"
        )
        % told
    )


def _those_with(right: Right) -> str:
    *others, last = (str(ROLE_NAMES[role]) for role in Role if right in ROLE_RIGHTS[role])
    return f"{', '.join(others)} {_('or')} {last}" if others else last
