"""Agent keys: `mh_<live|test>_<30 base62><6 base62 CRC32>`, kept as an HMAC under a pepper of its own."""

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event, record_events
from accounts.models import AgentKey
from accounts.scopes import FAMILIES, KEY_MAKERS, PRESETS, Right, Scope
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, parse_id, typed_id
from memoryhub.common.naming import check_naming

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY = re.compile(r"mh_(live|test)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})")
DEFAULT_LIFE = timedelta(days=90)
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True)
class NewKey:
    """A key just made; `secret` is never shown again."""

    key: AgentKey
    secret: str


def create_key(
    actor: Actor,
    *,
    name: str,
    default_space_id: UUID | None,
    preset: str | None = None,
    scopes: Iterable[str] | None = None,
    families: Iterable[str] = FAMILIES,
    space_ids: Iterable[UUID] | None = None,
    profile: str = "generic",
    expires_at: datetime | None = None,
    device_label: str = "",
    addresses: Iterable[str] = (),
) -> NewKey:
    """Make a key that acts for the actor. Exactly one of `preset` and `scopes`; 90 days unless told otherwise."""
    check_may_make_keys(actor)
    name = checked_name(name)
    secret = make_secret()
    with transaction.atomic():
        key = AgentKey.objects.create(
            account_id=actor.account_id,
            name=name,
            prefix=secret[:12],
            hint=secret[-4:],
            secret_hash=hash_secret(secret),
            created_by_id=actor.user_id,
            scopes=sorted(chosen_scopes(preset, scopes)),
            families=chosen_families(families),
            profile=profile,
            default_space_id=default_space_id,
            space_ids=sorted(space_ids) if space_ids is not None else None,
            device_label=device_label,
            addresses=chosen_addresses(addresses),
            expires_at=expires_at or timezone.now() + DEFAULT_LIFE,
        )
        record_event(actor, "key.created", "key", typed_id("key", key.id))
    return NewKey(key, secret)


@dataclass(frozen=True)
class KeyChange:
    """What a key holds from now on: all of it, so that nothing stays by being forgotten."""

    name: str
    scopes: Iterable[str]
    families: Iterable[str]
    default_space_id: UUID | None
    space_ids: Iterable[UUID] | None
    expires_at: datetime | None
    addresses: Iterable[str] = ()
    device_label: str = ""


def change_key(actor: Actor, id: str, change: KeyChange) -> AgentKey:
    """One's own, or with the right to manage anybody's. It holds with the key's next request."""
    name = checked_name(change.name)
    with transaction.atomic():
        key = access_live_key(actor, id)
        check_may_make_keys(actor)
        key.name = name
        key.scopes = sorted(chosen_scopes(None, change.scopes))
        key.families = chosen_families(change.families)
        key.default_space_id = change.default_space_id
        key.space_ids = sorted(change.space_ids) if change.space_ids is not None else None
        key.expires_at = change.expires_at
        key.addresses = chosen_addresses(change.addresses)
        key.device_label = change.device_label.strip()[:120]
        key.save()
        record_event(actor, "key.updated", "key", typed_id("key", key.id))
    return key


def rotate_key(actor: Actor, id: str) -> NewKey:
    """The same key with a new secret, and as long a life. The old secret still works for a day, so that its agent can
    be given the new one meanwhile. Only one's own: whoever has the secret acts as its maker."""
    check_may_make_keys(actor)
    with transaction.atomic():
        old = access_live_key(actor, id)
        if old.created_by_id != actor.user_id:
            raise Forbidden("Only its maker can rotate a key. Revoke it, or ask them.")
        if old.replaced_by_id is not None:
            raise Conflict("This key has been rotated already; its old secret ends soon.")
        secret, now = make_secret(), timezone.now()
        new = AgentKey.objects.get(id=old.id)
        new.pk, new._state.adding = new_id(), True
        new.prefix, new.hint, new.secret_hash = secret[:12], secret[-4:], hash_secret(secret)
        new.created_at, new.last_used_at, new.last_used_address, new.last_used_client = now, None, "", ""
        new.expires_at = now + (old.expires_at - old.created_at) if old.expires_at else None
        new.save(force_insert=True)
        old.replaced_by_id = new.id
        old.expires_at = min(now + OVERLAP, old.expires_at or now + OVERLAP)
        old.save(update_fields=["replaced_by_id", "expires_at"])
        record_event(actor, "key.rotated", "key", typed_id("key", old.id))
        record_event(actor, "key.created", "key", typed_id("key", new.id))
    return NewKey(new, secret)


def access_live_key(actor: Actor, id: str) -> AgentKey:
    """Locked, and not ended yet."""
    if actor.kind not in ("person", "system"):
        raise Forbidden("Only a person can change a key.")
    key = AgentKey.objects.select_for_update(of=("self",)).get(id=access_key(actor, id).id)
    if not key.is_live:
        raise Conflict("This key has ended. Make a new one.")
    return key


def checked_name(name: str) -> str:
    if not name.strip():
        raise ValidationFailed({"name": ["Give the key a name, such as the agent that will use it."]})
    return check_naming(name)


def chosen_addresses(addresses: Iterable[str]) -> list[str]:
    """As the database writes them. None is from anywhere."""
    try:
        return [str(ip_address(address.strip())) for address in addresses]
    except ValueError:
        raise ValidationFailed(
            {"addresses": ["Each must be an address like 192.0.2.7 or 2001:db8::7."]}
        ) from None


def check_may_make_keys(actor: Actor) -> None:
    if actor.kind not in ("person", "system"):
        raise Forbidden("Only a person can make a key.")
    if actor.role not in KEY_MAKERS:
        raise Forbidden("Your role makes no keys. Ask an admin of the team for one.")


def chosen_scopes(preset: str | None, scopes: Iterable[str] | None) -> set[str]:
    if (preset is None) == (scopes is None):
        raise ValidationFailed({"scopes": ["Send either a preset or a list of scopes."]})
    if preset is not None:
        if preset not in PRESETS:
            raise ValidationFailed({"preset": [f"Must be one of {', '.join(PRESETS)}."]})
        return {str(s) for s in PRESETS[preset]}
    wanted = set(scopes or ())
    if not wanted or wanted - {str(s) for s in Scope}:
        raise ValidationFailed({"scopes": ["Name at least one scope, each of: " + ", ".join(Scope) + "."]})
    return wanted


def chosen_families(families: Iterable[str]) -> list[str]:
    wanted = set(families)
    if not wanted or wanted - set(FAMILIES):
        raise ValidationFailed({"families": [f"Name at least one of {', '.join(FAMILIES)}."]})
    return [f for f in FAMILIES if f in wanted]


def access_key(actor: Actor, id: str) -> AgentKey:
    """One's own key, or with the right to manage, any of the account's."""
    key = AgentKey.objects.filter(account_id=actor.account_id, id=parse_id("key", id)).first()
    if key is None or not (actor.has(Right.MANAGE) or (actor.user_id and key.created_by_id == actor.user_id)):
        raise NotFound("key")
    return key


def list_keys(actor: Actor) -> list[AgentKey]:
    keys = AgentKey.objects.filter(account_id=actor.account_id).select_related("created_by")
    if not actor.has(Right.MANAGE):
        keys = keys.filter(created_by_id=actor.user_id)
    return list(keys.order_by("-created_at", "-id"))


def revoke_key(actor: Actor, id: str) -> AgentKey:
    """End a key now. Revoking twice changes nothing."""
    if actor.kind not in ("person", "system"):
        raise Forbidden("Only a person can revoke a key.")
    key = access_key(actor, id)
    if key.revoked_at is None:
        with transaction.atomic():
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])
            record_event(actor, "key.revoked", "key", typed_id("key", key.id))
    return key


def end_keys(actor: Actor, user_id: UUID) -> int:
    """All that a person has made in the account of the actor. How many they were."""
    theirs = AgentKey.objects.live().filter(account_id=actor.account_id, created_by_id=user_id)
    ending = list(theirs.select_for_update().values_list("id", flat=True))
    AgentKey.objects.filter(id__in=ending).update(revoked_at=timezone.now())
    record_events(actor, "key.revoked", "key", {typed_id("key", id): None for id in ending})
    return len(ending)


def make_secret(kind: str = "live") -> str:
    body = "".join(secrets.choice(ALPHABET) for _ in range(30))
    return f"mh_{kind}_{body}{checksum(body)}"


def checksum(body: str) -> str:
    """CRC32 of the random part as six base62 digits: lets a scanner tell a key from look-alikes offline."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = ALPHABET[digit] + digits
    return digits


def is_well_formed(secret: str) -> bool:
    match = KEY.fullmatch(secret)
    return match is not None and checksum(match[2]) == match[3]


def hash_secret(secret: str) -> bytes:
    return hmac.digest(settings.KEY_PEPPER.encode(), secret.encode(), "sha256")
