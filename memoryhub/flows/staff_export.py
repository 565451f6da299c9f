"""Staff of the installation take a space away: with a permission of its own, and not unseen."""

from accounts.actor import Actor
from accounts.models import User
from accounts.scopes import Role
from memoryhub.common.errors import Forbidden
from memoryhub.flows.export import Export, open_export
from spaces.models import Space

PERMISSION = "spaces.export_space"


def export_for_staff(user: User, space: Space, *, address: str = "") -> Export:
    """The space's people find it among its exports, with who it was."""
    check_staff(user)
    actor = Actor(
        space.account_id, "staff", Role.OWNER, user_id=user.id, address=address, name=user.get_full_name()
    )
    return open_export(actor, space.id, note="by staff of the installation")


def check_staff(user: User) -> None:
    standing = User.objects.filter(id=user.id).first()
    if standing is None or not (standing.is_active and standing.is_staff and standing.has_perm(PERMISSION)):
        raise Forbidden("Exporting spaces of others needs the permission to export any space.")
