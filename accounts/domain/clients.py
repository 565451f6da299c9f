"""Clients that nobody here has entered: they register themselves, or have a document that tells of them."""

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from oauth2_provider.models import RefreshToken, clear_expired

from accounts.domain.grants import end_grant
from accounts.domain.limits import count_up
from accounts.models import Application, Grant
from memoryhub.common.errors import RateLimited, ValidationFailed
from memoryhub.common.naming import naming_fault

HOUR = 3600
NEVER_USED = timedelta(days=1)
LONG_UNUSED = timedelta(days=90)
RENEWED = RefreshToken.objects.filter(token_family=OuterRef("pk"), revoked=None)
PUBLIC = "none"
SECRETS = ("client_secret_basic", "client_secret_post")
GRANT_TYPES = ["authorization_code", "refresh_token"]
HIDDEN = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class NewClient:
    """A client that has just registered; `secret`, where it has one, is never told again."""

    client: Application
    metadata: dict[str, Any]
    secret: str


def spend_registration(address: str) -> None:
    """One more client from there, and one more at all; RateLimited if either is too many in an hour. Zero is no
    limit."""
    _spend(network_of(address), settings.OAUTH_REGISTRATIONS, "from here")
    _spend("anywhere", settings.OAUTH_REGISTRATIONS_ALL, "in this hour")


def _spend(place: str, limit: int, words: str) -> None:
    now = int(time.time())
    if limit and count_up(caches["default"], f"~register:{place}:{now // HOUR}", 2 * HOUR) > limit:
        raise RateLimited(
            f"Too many clients registered {words}. Use the client that you have, or wait.",
            retry_after=HOUR - now % HOUR,
        )


def network_of(address: str) -> str:
    """Whom an address is of: of IPv6 a whole /64 is one household's, or one machine's."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped or ip_network((found, 64), strict=False).network_address)
    return str(found)


def register_client(metadata: Mapping[str, Any], *, address: str) -> NewClient:
    """Dynamic registration (RFC 7591). ValidationFailed names the field; what isn't known is ignored."""
    wanted = checked(metadata)
    spend_registration(address)
    public = wanted["token_endpoint_auth_method"] == PUBLIC
    secret = "" if public else secrets.token_urlsafe(48)
    client = Application(
        name=wanted["client_name"],
        redirect_uris=" ".join(wanted["redirect_uris"]),
        client_type=Application.CLIENT_PUBLIC if public else Application.CLIENT_CONFIDENTIAL,
        client_secret=secret,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        registration_source=Application.RegistrationSource.DCR,
    )
    try:
        client.full_clean()
    except ValidationError as fault:
        raise ValidationFailed({n: list(map(str, m)) for n, m in fault.message_dict.items()}) from None
    client.save()
    return NewClient(client, wanted, secret)


def checked(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a client says of itself, as far as it counts here."""
    wanted = {
        "client_name": metadata.get("client_name") or "",
        "redirect_uris": metadata.get("redirect_uris") or [],
        "grant_types": metadata.get("grant_types") or GRANT_TYPES,
        "response_types": metadata.get("response_types") or ["code"],
        "token_endpoint_auth_method": metadata.get("token_endpoint_auth_method") or SECRETS[0],
    }
    complaints = {name: [why] for name, why in _complaints(wanted) if why}
    if complaints:
        raise ValidationFailed(complaints)
    return {**wanted, "grant_types": GRANT_TYPES, "response_types": ["code"]}


def _complaints(wanted: Mapping[str, Any]) -> list[tuple[str, str]]:
    name, redirects = wanted["client_name"], wanted["redirect_uris"]
    return [
        ("client_name", _name_complaint(name)),
        ("redirect_uris", "" if _are_addresses(redirects) else "must be a list of addresses"),
        (
            "grant_types",
            "" if _lists("authorization_code", wanted["grant_types"]) else "authorization_code alone",
        ),
        ("response_types", "" if _lists("code", wanted["response_types"]) else "code alone"),
        (
            "token_endpoint_auth_method",
            ""
            if wanted["token_endpoint_auth_method"] in (PUBLIC, *SECRETS)
            else "none, client_secret_basic or client_secret_post",
        ),
    ]


def _name_complaint(name: object) -> str:
    if not isinstance(name, str):
        return "must be a line of text"
    return naming_fault(name) if name else ""


def _is_line(text: object, longest: int) -> bool:
    return isinstance(text, str) and len(text) <= longest and not HIDDEN.search(text)


def _are_addresses(listed: object) -> bool:
    return (
        isinstance(listed, list) and bool(listed) and all(_is_line(u, 1000) and " " not in u for u in listed)
    )


def _lists(needed: str, listed: object) -> bool:
    return isinstance(listed, list) and needed in listed


def tend_clients() -> int:
    """Clear what is past: tokens, grants that nothing renews any more, and clients that came by themselves and were
    never let in, or long ago. How many clients were dropped."""
    now = timezone.now()
    clear_expired()
    for grant in Grant.objects.connected().filter(revoked_at=None).exclude(Exists(RENEWED)):
        end_grant(grant.id)
    Grant.objects.filter(connected_at=None, created_at__lt=now - NEVER_USED).delete()
    came = Application.objects.exclude(registration_source=Application.RegistrationSource.MANUAL)
    let_in = Grant.objects.filter(application=OuterRef("pk"))
    lately = let_in.filter(Q(revoked_at=None) | Q(revoked_at__gt=now - LONG_UNUSED))
    dropped: int = came.filter(~Exists(lately), updated__lt=now - NEVER_USED).delete()[0]
    return dropped
