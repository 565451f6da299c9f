"""The kill switches: nothing is carried out in a space, or in the whole team, while one is on."""

from django.db import transaction

from accounts.actor import Actor
from accounts.domain.accounts import access_account
from accounts.domain.events import record_event
from accounts.models import Account
from accounts.scopes import ROLE_RIGHTS, Right
from actions.domain.inbox import announce
from memoryhub.common.errors import Forbidden
from memoryhub.common.ids import typed_id
from spaces.domain.access import access_space, role_in
from spaces.models import Space


def pause_space(actor: Actor, *, paused: bool) -> Space:
    space = access_space(actor)
    _check(actor, space)
    with transaction.atomic():
        rows = Space.objects.filter(account_id=space.account_id, id=space.id).exclude(actions_paused=paused)
        if rows.update(actions_paused=paused):
            _tell(actor, typed_id("spc", space.id), "space", space)
    return access_space(actor)


def pause_account(actor: Actor, *, paused: bool) -> Account:
    _check(actor, None)
    with transaction.atomic():
        account = access_account(actor)
        rows = Account.objects.filter(id=actor.account_id).exclude(actions_paused=paused)
        if rows.update(actions_paused=paused):
            _tell(actor, typed_id("acc", account.id), "account", None)
    account.refresh_from_db()
    return account


def _check(actor: Actor, space: Space | None) -> None:
    """Who may decide can stop, and so can who manages; each of them can let it go on."""
    rights = ROLE_RIGHTS[role_in(actor, space)] if actor.is_person else frozenset()
    if not rights & {Right.DECIDE, Right.MANAGE}:
        raise Forbidden("Pausing actions needs the right to decide or to manage, in a browser.")


def _tell(actor: Actor, id: str, kind: str, space: Space | None) -> None:
    record_event(actor, "settings.updated", kind, id, space_id=space.id if space else None)
    if space:
        announce(space.id, space.account_id)
