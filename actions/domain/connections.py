"""An account's links to vendors. Tokens are sealed to their row, and no answer or page ever has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.domain.jobs import enqueue, enqueue_each
from accounts.models import Account
from accounts.scopes import Right
from actions.connectors import CONNECTORS
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble
from actions.connectors.identity import Identity, identify
from actions.connectors.issuers import ISSUERS
from actions.connectors.signing_in import LONGEST_TOKEN, Tokens
from actions.domain.lane import ACTIONS, PREPARE, TEND
from actions.domain.tokens import end_of, end_quietly, is_due, row, sealed, tokens_of, with_token
from actions.models import VENDORS, Action, Connection, Status
from actions.models.connections import ConnectionQuerySet
from memoryhub.common.errors import (
    Forbidden,
    HubError,
    NotConnected,
    NotFound,
    Unavailable,
    ValidationFailed,
)
from memoryhub.common.ids import parse_id
from memoryhub.common.keyring import is_current, seal, unseal
from memoryhub.common.tenancy import tenant
from spaces.domain.access import require_right

TEND_EVERY = timedelta(days=1)
USE_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Ended:
    """`at_vendor`: whether the vendor said that it forgot the tokens; None if it wasn't asked to."""

    connection: Connection
    at_vendor: bool | None


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
    return put_in_place(actor, vendor, Tokens(token), identity)


def put_in_place(
    actor: Actor, vendor: str, tokens: Tokens, identity: Identity, *, signed_in: bool = False
) -> Connection:
    """Opens the account itself. What it had of another account at the vendor is revoked there too; of the same one
    it is not, since that would end what has just begun."""
    with tenant(actor.account_id):
        check_may_manage(actor)
        former = [(c, _held(c)) for c in _standing(actor.account_id).filter(vendor=vendor)]
        made = add_connection(actor, vendor, tokens, identity, signed_in=signed_in)
    for connection, held in former:
        if connection.vendor_ref != made.vendor_ref:
            end_at_vendor(connection, held)
    return made


def add_connection(
    actor: Actor, vendor: str, tokens: Tokens, identity: Identity, *, signed_in: bool = False
) -> Connection:
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
            scopes=list(tokens.scopes or identity.scopes),
            connected_by_id=actor.user_id,
            connected_at=now,
            checked_at=now,
            signed_in=signed_in,
            expires_at=end_of(tokens),
        )
        connection.sealed = sealed(connection, tokens)
        connection.save(force_insert=True)
        record_event(actor, "connection.created", "connection", connection.uid)
        enqueue_each(PREPARE, actor.account_id, waiting_for(actor.account_id, vendor), lane=ACTIONS)
        enqueue(TEND, actor.account_id, connection.id, run_after=now + TEND_EVERY, lane=ACTIONS)
    return connection


def revoke_connection(actor: Actor, id: str) -> Ended:
    """At once: the tokens are gone, and whatever was approved for it fails unsent. Then the vendor is told."""
    with tenant(actor.account_id):
        check_may_manage(actor)
        connection = access_connection(actor, id)
        held = _held(connection)
        _revoke(actor, connection)
    return Ended(connection, end_at_vendor(connection, held))


def end_at_vendor(connection: Connection, held: Tokens | None) -> bool | None:
    """Only what a person signed in for: a pasted token may serve others too."""
    if not connection.signed_in:
        return None
    if held is None or not ISSUERS[connection.vendor].is_configured:
        return False
    return end_quietly(connection.vendor, held, over=is_due(connection))


def tend_connection(account_id: UUID, connection_id: UUID) -> timedelta | None:
    """Once a day: a refresh token that nobody uses ends, and what is wrong should be known before it is needed."""
    with tenant(account_id):
        connection = _standing(account_id).filter(id=connection_id, broken=False).first()
    if connection is None:
        return None
    trouble = health(connection)
    with tenant(account_id):
        note_health(connection, trouble)
    return TEND_EVERY


def check_connection(actor: Actor, id: str) -> Connection:
    """Ask the vendor whether it still takes the token, and for whose account."""
    with tenant(actor.account_id):
        check_may_manage(actor)
        connection = access_connection(actor, id)
    trouble = health(connection)
    with tenant(actor.account_id):
        note_health(connection, trouble)
        return access_connection(actor, id)


def health(connection: Connection) -> str:
    """What is wrong, in a few words; "" for nothing. A token that is over is renewed."""
    try:
        identity = with_token(connection, lambda token: identify(connection.vendor, token))
    except Trouble as trouble:
        return trouble.reason[:80]
    return "" if identity.ref == connection.vendor_ref else "another account"


def note_health(connection: Connection, trouble: str) -> None:
    rows = Connection.objects.standing().filter(account_id=connection.account_id, id=connection.id)
    rows.update(checked_at=timezone.now(), trouble=trouble[:80])


def note_use(connection: Connection) -> None:
    """It worked. At most once a minute."""
    now = timezone.now()
    rows = Connection.objects.standing().filter(account_id=connection.account_id, id=connection.id)
    rows.exclude(used_at__gt=now - USE_NOTED_EVERY).update(used_at=now, trouble="")


def connection_for(account_id: UUID, class_name: str) -> Connection | None:
    """The one that an action of this class would be carried out with now."""
    connector = CONNECTORS.get(class_name)
    if connector is None:
        return None
    return _standing(account_id).filter(vendor=connector.vendor).first()


def reseal_connections(account_id: UUID) -> int:
    """Put what is sealed under an older key of the keyring under the first. Answers how many there were."""
    resealed = 0
    with tenant(account_id), transaction.atomic():
        for connection in _standing(account_id).select_for_update():
            if not is_current(connection.sealed):
                place = row(connection)
                rows = Connection.objects.filter(account_id=account_id, id=connection.id)
                resealed += rows.update(sealed=seal(unseal(connection.sealed, row=place), row=place))
    return resealed


def waiting_for(account_id: UUID, vendor: str) -> Iterable[UUID]:
    """Actions that nobody has decided on yet, and that this vendor's connection would carry out."""
    classes = [name for name, connector in CONNECTORS.items() if connector.vendor == vendor]
    actions = Action.objects.filter(
        account_id=account_id, status=Status.PENDING, executor="worker", class_name__in=classes
    )
    return actions.values_list("id", flat=True)


def not_connected(action: Action, *, broken: bool = False) -> NotConnected:
    vendor = CONNECTORS[action.class_name].vendor.title()
    url = f"{settings.PUBLIC_URL}/a/{action.account.slug}/connections/"
    said = (
        f"The connection to {vendor} is signed out there" if broken else f"There is no connection to {vendor}"
    )
    return NotConnected(f"{said}. Connect it {'anew' if broken else 'first'}.", connect_url=url)


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


def _held(connection: Connection) -> Tokens | None:
    """None if they can't be read: that keeps nobody from disconnecting."""
    try:
        return tokens_of(connection)
    except HubError:
        return None
