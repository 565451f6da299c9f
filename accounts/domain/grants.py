"""Hosted clients that act for a person: what was agreed to, and its end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import RefreshToken

from accounts.actor import Actor, system_actor
from accounts.domain.events import record_event
from accounts.domain.keys import check_may_make_keys
from accounts.models import Application, Grant
from accounts.scopes import Right
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.secrets import cut_text
from memoryhub.common.tenancy import tenant

CHATGPT = ("chatgpt.com", "openai.com")
UNNAMED = "Unnamed client"


@dataclass(frozen=True)
class Consent:
    """What a person agreed to: as whom, and where the client works. `space_ids` None is wherever they do."""

    actor: Actor
    default_space_id: UUID
    space_ids: tuple[UUID, ...] | None


def begin_grant(
    consent: Consent,
    client: Application,
    *,
    redirect: str,
    scopes: Iterable[str],
    resources: Iterable[str],
    code_hash: str,
) -> Grant:
    """In the transaction in which the code is made that its client will come with."""
    check_may_make_keys(consent.actor)
    assert consent.actor.user_id is not None
    host = urlsplit(redirect).hostname or ""
    return Grant.objects.create(
        account_id=consent.actor.account_id,
        user_id=consent.actor.user_id,
        application=client,
        name=shown_name(client),
        host=host[:255],
        scopes=sorted(scopes),
        resources=sorted(resources),
        profile="chatgpt" if is_of(host, CHATGPT) else "generic",
        default_space_id=consent.default_space_id,
        space_ids=list(consent.space_ids) if consent.space_ids is not None else None,
        code_hash=code_hash,
    )


def shown_name(client: Application) -> str:
    """What it calls itself, on one line: nothing stands behind that word."""
    return cut_text(" ".join(client.name.split()))[0][:120] or UNNAMED


def is_of(host: str, domains: Sequence[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def connect_grant(code_hash: str, client: Application) -> Grant | None:
    """The client exchanges its code: from now on it is connected. None where that was done before, or nothing
    is left to connect to. Others wait until the end of the transaction."""
    begun = Grant.objects.select_for_update().filter(code_hash=code_hash, application=client)
    grant = begun.filter(connected_at=None, revoked_at=None).first()
    if grant is None:
        return None
    grant.connected_at = timezone.now()
    grant.save(update_fields=["connected_at"])
    with tenant(grant.account_id):
        record_event(acting(grant), "grant.connected", "grant", typed_id("grt", grant.id))
        _replace_earlier(grant, client)
    return grant


def _replace_earlier(grant: Grant, client: Application) -> None:
    """A client that registered itself is one installation: when it comes for more, it drops what it had."""
    if client.registration_source != Application.RegistrationSource.DCR:
        return
    same = Grant.objects.filter(account_id=grant.account_id, user_id=grant.user_id, application=client)
    for earlier in same.filter(revoked_at=None, resources=grant.resources).exclude(id=grant.id).connected():
        _end(acting(grant), earlier)


def acting(grant: Grant) -> Actor:
    """As whom a grant stands in the events about itself."""
    return Actor(grant.account_id, "grant", system_actor(grant.account_id).role, grant.user_id, grant.id)


def live_grant(id: UUID | None) -> Grant | None:
    return Grant.objects.live().filter(id=id).first() if id else None


def list_grants(actor: Actor) -> list[Grant]:
    """One's own, or with the right to manage, everybody's in the account."""
    grants = Grant.objects.connected().filter(account_id=actor.account_id).select_related("user")
    if not actor.has(Right.MANAGE):
        grants = grants.filter(user_id=actor.user_id) if actor.user_id else grants.none()
    return list(grants.order_by("-created_at", "-id"))


def access_grant(actor: Actor, id: str) -> Grant:
    grant = Grant.objects.connected().filter(account_id=actor.account_id, id=parse_id("grt", id)).first()
    if grant is None or not (actor.has(Right.MANAGE) or grant.user_id == actor.user_id):
        raise NotFound("grant")
    return grant


def revoke_grant(actor: Actor, id: str) -> Grant:
    """Disconnect a client now. Twice changes nothing."""
    if actor.kind not in ("person", "system"):
        raise Forbidden("Only a person can disconnect a client.")
    grant = access_grant(actor, id)
    if grant.is_live:
        _end(actor, grant)
    return grant


def end_grants(actor: Actor, user_id: UUID) -> int:
    """All that a person let into the account of the actor. How many they were."""
    grants = list(Grant.objects.filter(account_id=actor.account_id, user_id=user_id, revoked_at=None))
    for grant in grants:
        _end(actor, grant)
    return len(grants)


def erase_grants(actor: Actor, user_id: UUID) -> None:
    """The same, with whatever says that they ever did."""
    end_grants(actor, user_id)
    theirs = Grant.objects.filter(account_id=actor.account_id, user_id=user_id)
    RefreshToken.objects.filter(token_family__in=theirs.values("id")).delete()
    theirs.delete()


def end_grant(id: UUID | None) -> None:
    """By its client, or because what it held was shown twice."""
    grant = Grant.objects.filter(id=id, revoked_at=None).first() if id else None
    if grant is not None:
        with tenant(grant.account_id):
            _end(acting(grant), grant)


def _end(actor: Actor, grant: Grant) -> None:
    with transaction.atomic():
        grant.revoked_at = timezone.now()
        grant.save(update_fields=["revoked_at"])
        RefreshToken.revoke_family(grant.id)
        record_event(actor, "grant.revoked", "grant", typed_id("grt", grant.id))
