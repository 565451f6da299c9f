"""Connecting by signing in at the vendor: a person goes there, agrees, and comes back with a code."""

import secrets
from dataclasses import dataclass, field

from accounts.actor import Actor
from actions.connectors import signing_in
from actions.connectors.answers import NotSent, Refused, Trouble
from actions.connectors.identity import Identity
from actions.connectors.issuers import issuer_of
from actions.connectors.signing_in import MISCONFIGURED, Tokens
from actions.domain.connections import ask_identity, check_may_manage, put_in_place
from actions.domain.tokens import end_quietly
from actions.models import Connection
from memoryhub.common.errors import InvalidRequest, Unavailable, ValidationFailed
from memoryhub.common.tenancy import tenant

STATE_BYTES = 32


@dataclass(frozen=True)
class Journey:
    """One way there and back. The `state` is known to this browser alone, the `verifier` to this hub."""

    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)


def set_out(vendor: str) -> Journey:
    state, verifier = secrets.token_urlsafe(STATE_BYTES), signing_in.new_verifier()
    return Journey(signing_in.authorization_url(vendor, state, verifier), state, verifier)


def is_from(vendor: str, iss: str) -> bool:
    """Whether an answer that names who gives it (RFC 9207) is from where the person was sent."""
    name = issuer_of(vendor).name
    return not iss or not name or iss == name


def come_back(actor: Actor, vendor: str, code: str, verifier: str) -> Connection:
    """Not inside a transaction. What the vendor gave is given back if it can't be kept."""
    with tenant(actor.account_id):
        check_may_manage(actor)
    tokens = _exchanged(vendor, code, verifier)
    try:
        return put_in_place(actor, vendor, tokens, _identity(vendor, tokens), signed_in=True)
    except Exception:
        _give_back(actor, vendor, tokens)
        raise


def _give_back(actor: Actor, vendor: str, tokens: Tokens) -> None:
    """Unless there is a connection, of which it might be the end."""
    with tenant(actor.account_id):
        standing = Connection.objects.standing().filter(account_id=actor.account_id, vendor=vendor).exists()
    if not standing:
        end_quietly(vendor, tokens)


def _exchanged(vendor: str, code: str, verifier: str) -> Tokens:
    try:
        return signing_in.exchange(vendor, code, verifier)
    except Refused as refusal:
        raise InvalidRequest(_why(vendor, refusal.reason)) from None
    except NotSent:
        raise Unavailable(
            "The vendor can't be reached, or asks to wait. Nothing was connected: begin again in a minute."
        ) from None
    except Trouble:
        raise Unavailable(
            "The vendor answered in a way that is not understood. Nothing was connected: begin again."
        ) from None


def _why(vendor: str, reason: str) -> str:
    issuer = issuer_of(vendor)
    if reason in MISCONFIGURED:
        name = vendor.upper()
        return (
            f"The vendor does not accept this hub ({reason}). Whoever runs it has to compare {name}_CLIENT_ID, "
            f"{name}_CLIENT_SECRET and the registered address {issuer.callback} with what is set there."
        )
    return (
        f"The vendor does not take the code that came back ({reason}): it is used, or too old. Begin again."
    )


def _identity(vendor: str, tokens: Tokens) -> Identity:
    try:
        return ask_identity(vendor, tokens.access)
    except ValidationFailed:
        raise InvalidRequest(
            "The vendor does not say whose account it is: something was left out of what it asked you for. "
            "Begin again, and allow all of it."
        ) from None
