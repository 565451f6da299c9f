"""Staff of the installation, who may look into any account: one at a time, and each time it is written down there."""

from uuid import UUID

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.models import Account, User
from accounts.scopes import Role
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant


def list_every_account(user: User) -> list[Account]:
    _require_staff(user)
    return list(Account.objects.order_by("name", "id"))


def enter_account(user: User, account_id: UUID, *, address: str = "") -> Account:
    """The account's own people find it among its events."""
    _require_staff(user)
    account = Account.objects.filter(id=account_id).first()
    if account is None:
        raise NotFound("account")
    actor = Actor(
        account.id, "staff", Role.VIEWER, user_id=user.id, address=address, name=user.get_full_name()
    )
    with tenant(account.id):
        record_event(actor, "admin.entered", "account", typed_id("acc", account.id))
    return account


def _require_staff(user: User) -> None:
    if not (user.is_active and user.is_staff):
        raise Forbidden("Only staff of this installation may open the administration.")
