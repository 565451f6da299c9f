"""An account's links to vendors. Tokens are sealed to their row, and no answer or page ever has them."""

import json
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.jobs import enqueue_each
from accounts.models import Account
from accounts.scopes import Right
from actions.connectors import CONNECTORS
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble
from actions.connectors.identity import Identity, identify
from actions.domain.lane import ACTIONS, PREPARE
from actions.models import VENDORS, Action, Connection, Status
from actions.models.connections import ConnectionQuerySet
from memoryhub.common.errors import Forbidden, NotConnected, NotFound, Unavailable, ValidationFailed
from memoryhub.common.ids import parse_id
from memoryhub.common.keyring import is_current, row_of, seal, unseal
from memoryhub.common.tenancy import tenant
from spaces.domain.access import require_right

LONGEST_TOKEN = 4096


def list_connections(actor: Actor) -> list[Connection]:
    """Those that stand, for whoever is of the account."""
    require_right(actor, None, Right.READ)
    return list(_standing(actor.account_id).select_related("connected_by").order_by("vendor", "id"))


def access_connection(actor: Actor, id: str) -> Connection:
    found = _standing(actor.account_id).filter(id=parse_id("con", id)).first()
    if found is None:
        raise NotFound("connection")
    return found


def connect(actor: Actor, vendor: str, token: str) -> Connection:
    """Link the account with a token that a person pasted, once the vendor has said whose it is.

    Opens the account itself, after asking. A connection that there was is revoked: nothing that was consented to
    for it is carried out with the new one.
    """
    with tenant(actor.account_id):
        check_may_manage(actor)
    token = check_token(vendor, token)
    identity = ask_identity(vendor, token)
    with tenant(actor.account_id):
        check_may_manage(actor)
        return add_connection(actor, vendor, token, identity)


def add_connection(actor: Actor, vendor: str, token: str, identity: Identity) -> Connection:
    assert actor.user_id is not None
    now = timezone.now()
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(id=actor.account_id)  # one after the other
        for former in _standing(actor.account_id).filter(vendor=vendor):
            _revoke(actor, former)
        connection = Connection(
            account_id=actor.account_id,
            vendor=vendor,
            vendor_ref=identity.ref[:255],
            name=identity.name[:255],
            scopes=list(identity.scopes),
            connected_by_id=actor.user_id,
            connected_at=now,
            checked_at=now,
        )
        connection.sealed = seal(json.dumps({"access_token": token}), row=_row(connection))
        connection.save(force_insert=True)
        record_event(actor, "connection.created", "connection", connection.uid)
        enqueue_each(PREPARE, actor.account_id, waiting_for(actor.account_id, vendor), lane=ACTIONS)
    return connection


def revoke_connection(actor: Actor, id: str) -> Connection:
    """At once: the tokens are gone, and whatever was approved for it fails unsent."""
    check_may_manage(actor)
    with transaction.atomic():
        connection = access_connection(actor, id)
        _revoke(actor, connection)
    return connection


def check_connection(actor: Actor, id: str) -> Connection:
    """Ask the vendor whether it still takes the token, and for whose account."""
    with tenant(actor.account_id):
        check_may_manage(actor)
        connection = access_connection(actor, id)
        token = token_of(connection)
    trouble = health(connection, token)
    with tenant(actor.account_id):
        note_health(connection, trouble)
        return access_connection(actor, id)


def health(connection: Connection, token: str) -> str:
    """What is wrong, in a few words; "" for nothing."""
    try:
        identity = identify(connection.vendor, token)
    except Trouble as trouble:
        return trouble.reason[:80]
    return "" if identity.ref == connection.vendor_ref else "another account"


def note_health(connection: Connection, trouble: str) -> None:
    rows = Connection.objects.standing().filter(account_id=connection.account_id, id=connection.id)
    rows.update(checked_at=timezone.now(), trouble=trouble[:80])


def connection_for(account_id: UUID, class_name: str) -> Connection | None:
    """The one that an action of this class would be carried out with now."""
    connector = CONNECTORS.get(class_name)
    if connector is None:
        return None
    return _standing(account_id).filter(vendor=connector.vendor).first()


def token_of(connection: Connection) -> str:
    tokens = json.loads(unseal(connection.sealed, row=_row(connection)))
    return str(tokens["access_token"])


def reseal_everything() -> int:
    """For the operator of the installation: every account's, one after the other."""
    return sum(reseal_connections(id) for id in Account.objects.values_list("id", flat=True))


def reseal_connections(account_id: UUID) -> int:
    """Put what is sealed under an older key of the keyring under the first. Answers how many there were."""
    resealed = 0
    with tenant(account_id), transaction.atomic():
        for connection in _standing(account_id).select_for_update():
            if not is_current(connection.sealed):
                row = _row(connection)
                sealed = seal(unseal(connection.sealed, row=row), row=row)
                resealed += Connection.objects.filter(account_id=account_id, id=connection.id).update(
                    sealed=sealed
                )
    return resealed


def waiting_for(account_id: UUID, vendor: str) -> Iterable[UUID]:
    """Actions that nobody has decided on yet, and that this vendor's connection would carry out."""
    classes = [name for name, connector in CONNECTORS.items() if connector.vendor == vendor]
    actions = Action.objects.filter(
        account_id=account_id, status=Status.PENDING, executor="worker", class_name__in=classes
    )
    return actions.values_list("id", flat=True)


def not_connected(action: Action) -> NotConnected:
    vendor = CONNECTORS[action.class_name].vendor
    url = f"{settings.PUBLIC_URL}/a/{action.account.slug}/connections/"
    return NotConnected(f"There is no connection to {vendor.title()}. Connect it first.", connect_url=url)


def check_may_manage(actor: Actor) -> None:
    if not actor.is_person:
        raise Forbidden("Only a person manages connections, in a browser.")
    require_right(actor, None, Right.MANAGE)


def check_token(vendor: str, token: str) -> str:
    token = token.strip()
    if vendor not in VENDORS:
        raise ValidationFailed({"vendor": [f"Must be one of {', '.join(VENDORS)}."]})
    if not token or len(token) > LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        raise ValidationFailed({"token": ["Paste the token as the vendor shows it."]})
    return token


def ask_identity(vendor: str, token: str) -> Identity:
    """Whose token it is; a refusal is told as what is wrong with the token."""
    try:
        return identify(vendor, token)
    except (SignedOut, Refused):
        raise ValidationFailed(
            {"token": ["The vendor does not take this token. Check it, and its scopes."]}
        ) from None
    except NotSent:
        raise Unavailable("The vendor can't be reached, or asks to wait. Try again in a minute.") from None
    except Trouble:
        raise Unavailable(
            "The vendor answered in a way that is not understood. Nothing was connected."
        ) from None


def _revoke(actor: Actor, connection: Connection) -> None:
    rows = Connection.objects.standing().filter(account_id=connection.account_id, id=connection.id)
    if rows.update(revoked_at=timezone.now(), sealed=""):
        record_event(actor, "connection.revoked", "connection", connection.uid)


def _standing(account_id: UUID) -> ConnectionQuerySet:
    return Connection.objects.standing().filter(account_id=account_id)


def _row(connection: Connection) -> str:
    return row_of("actions_connection", connection.account_id, connection.id, "sealed")
