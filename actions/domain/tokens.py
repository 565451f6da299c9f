"""The tokens of connections: sealed to their row, and renewed by one process at a time.

Many vendors take a refresh token only once. So whoever finds an access token over claims the renewing with one
UPDATE; everybody else waits, without the database, for what comes of it.
"""

import json
import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NoReturn, TypeVar

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from actions.connectors import signing_in
from actions.connectors.answers import NotSent, Refused, SignedOut, Trouble
from actions.connectors.base import Ask
from actions.connectors.client import CONNECT_SECONDS, send
from actions.connectors.issuers import ISSUERS
from actions.connectors.signing_in import MISCONFIGURED, OVER, Tokens
from actions.models import Connection
from actions.models.connections import ConnectionQuerySet
from memoryhub.common.errors import HubError
from memoryhub.common.keyring import row_of, seal, unseal
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import let_go

log = logging.getLogger(__name__)
T = TypeVar("T")

MARGIN = timedelta(minutes=2)
POLL = 0.1
GRACE = 10.0


def token_of(connection: Connection) -> str:
    return tokens_of(connection).access


def tokens_of(connection: Connection) -> Tokens:
    held = json.loads(unseal(connection.sealed, row=row(connection)))
    return Tokens(str(held["access_token"]), str(held.get("refresh_token", "")))


def sealed(connection: Connection, tokens: Tokens) -> str:
    held = {"access_token": tokens.access}
    if tokens.refresh:
        held["refresh_token"] = tokens.refresh
    return seal(json.dumps(held), row=row(connection))


def end_of(tokens: Tokens) -> datetime | None:
    return timezone.now() + timedelta(seconds=tokens.lasts) if tokens.lasts else None


def row(connection: Connection) -> str:
    return row_of("actions_connection", connection.account_id, connection.id, "sealed")


def asking_by(connection: Connection, service: str) -> Ask:
    """Asks with its token, renewed when it is over. For what only reads."""
    return lambda call: with_token(connection, lambda token: send(service, token, call).body)


def with_token(connection: Connection, use: Callable[[str], T]) -> T:
    """What comes of using its token; with a new one if the vendor no longer takes it. Not inside a transaction."""
    token = current_token(connection)
    try:
        return use(token)
    except SignedOut:
        return use(renewed_token(connection))


def current_token(connection: Connection) -> str:
    return renewed_token(connection) if is_due(connection) else token_of(connection)


def is_due(connection: Connection) -> bool:
    ends = connection.expires_at
    return ends is not None and timezone.now() > ends - MARGIN


def renewed_token(former: Connection) -> str:
    """The token after the one that `former` holds, whichever process got it.

    Raises SignedOut when there will be none, and NotSent when there is none for now.
    """
    for turn in range(int(_lease().total_seconds() / POLL)):
        with tenant(former.account_id):
            found = _stored(former)
            if found.generation > former.generation:
                return token_of(found)
            if turn and found.renewing_until is None:
                raise NotSent("not renewed")
            claimed = _claim(former, waited=turn > 0)
        if claimed:
            return _renew(found)
        let_go()
        time.sleep(POLL)
    raise NotSent("being renewed")


def _stored(former: Connection) -> Connection:
    """As it is now, if anything can still come of it."""
    found = Connection.objects.filter(account_id=former.account_id, id=former.id).first()
    if found is None or found.revoked_at or found.broken:
        _signed_out()
    if found.generation == former.generation and not tokens_of(found).refresh:
        _signed_out()
    return found


def _claim(former: Connection, *, waited: bool) -> bool:
    """Who waited takes over only from one that is gone: if it has just failed, that is their answer too."""
    now = timezone.now()
    gone = Q(renewing_until__lt=now)
    free = gone if waited else gone | Q(renewing_until=None)
    return bool(_as_it_was(former).filter(free).update(renewing_until=now + _lease()))


def _renew(claimed: Connection) -> str:
    try:
        tokens = _asked_for(claimed)
    except Refused as refusal:
        if refusal.reason not in OVER:
            raise _put_off(claimed, refusal) from None
        return _break(claimed)
    except Trouble as trouble:
        raise _put_off(claimed, trouble) from None
    return _keep(claimed, tokens)


def _asked_for(claimed: Connection) -> Tokens:
    if not ISSUERS[claimed.vendor].is_configured:
        raise NotSent("not configured")
    return signing_in.renew(claimed.vendor, tokens_of(claimed).refresh)


def _keep(claimed: Connection, tokens: Tokens) -> str:
    with tenant(claimed.account_id):
        kept = _as_it_was(claimed).update(
            sealed=sealed(claimed, tokens),
            expires_at=end_of(tokens),
            generation=F("generation") + 1,
            renewing_until=None,
            checked_at=timezone.now(),
            trouble="",
        )
    return tokens.access if kept else _overtaken(claimed, tokens)


def _break(claimed: Connection) -> str:
    """There will be no next token, unless somebody else has it already."""
    with tenant(claimed.account_id):
        broken = _as_it_was(claimed).update(
            broken=True, trouble="signed out", renewing_until=None, checked_at=timezone.now()
        )
    return _overtaken(claimed) if not broken else _signed_out()


def _overtaken(claimed: Connection, tokens: Tokens | None = None) -> str:
    """Meanwhile it was disconnected, or so much time passed that another process renewed it."""
    with tenant(claimed.account_id):
        found = Connection.objects.filter(account_id=claimed.account_id, id=claimed.id).first()
        if found and not found.revoked_at and found.generation > claimed.generation:
            return token_of(found)
    if tokens:
        end_quietly(claimed.vendor, tokens)
    return _signed_out()


def _signed_out() -> NoReturn:
    raise SignedOut("signed out")


def _put_off(claimed: Connection, trouble: Trouble) -> NotSent:
    """It couldn't be renewed now; the next one who needs it asks again."""
    reason = "client not accepted" if trouble.reason in MISCONFIGURED else trouble.reason
    with tenant(claimed.account_id):
        _as_it_was(claimed).update(
            renewing_until=None, trouble=f"not renewed: {reason}"[:80], checked_at=timezone.now()
        )
    return NotSent(f"not renewed: {reason}", retry_after=getattr(trouble, "retry_after", None))


def _as_it_was(connection: Connection) -> ConnectionQuerySet:
    rows = Connection.objects.standing().filter(account_id=connection.account_id, id=connection.id)
    return rows.filter(generation=connection.generation, broken=False)


def _lease() -> timedelta:
    """Longer than any answer is waited for: whose lease is over is gone."""
    return timedelta(seconds=settings.VENDOR_SECONDS + CONNECT_SECONDS + GRACE)


def end_quietly(vendor: str, tokens: Tokens, *, over: bool = False) -> bool:
    """Have the vendor forget them; whether it said that it did, or had before. Some want a token that isn't over."""
    try:
        live = signing_in.renew(vendor, tokens.refresh) if over and tokens.refresh else tokens
        signing_in.end(vendor, live)
    except (Trouble, HubError) as trouble:
        gone = isinstance(trouble, SignedOut) or (isinstance(trouble, Refused) and trouble.reason in OVER)
        if not gone:
            log.warning("tokens could not be revoked at %s: %s", vendor, type(trouble).__name__)
        return gone
    return True
