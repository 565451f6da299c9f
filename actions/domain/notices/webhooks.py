"""An account's webhooks: made, changed and ended by people who manage it. Their secrets are sealed to their row."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.models import Account
from accounts.scopes import Right
from actions.domain.notices.signatures import new_secret
from actions.domain.notices.telling import EVENTS
from actions.models import Delivery, DeliveryState, Switched, Webhook
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import parse_id
from memoryhub.common.keyring import is_current, row_of, seal, unseal
from memoryhub.common.naming import check_naming
from memoryhub.common.outward import BadAddress, Place, read_place
from memoryhub.common.tenancy import tenant
from spaces.domain.access import access_space, require_right
from spaces.models import Space

MOST = 20
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True)
class Wish:
    """What a person asks for. An empty `url` keeps the one there is; `space` "" is every space."""

    name: str
    url: str = field(repr=False)
    events: Sequence[str]
    space: str = ""


@dataclass(frozen=True)
class Kept:
    """What is sealed. `former` is the secret before, while it still signs too."""

    url: str = field(repr=False)
    secret: str = field(repr=False)
    former: str = field(default="", repr=False)


@dataclass(frozen=True)
class NewSecret:
    """Shown once."""

    webhook: Webhook
    secret: str = field(repr=False)


def list_webhooks(actor: Actor) -> list[Webhook]:
    check_may_manage(actor)
    found = Webhook.objects.filter(account_id=actor.account_id).select_related("space", "made_by")
    return list(found.order_by("created_at", "id"))


def access_webhook(actor: Actor, id: str, *, lock: bool = False) -> Webhook:
    check_may_manage(actor)
    rows = Webhook.objects.filter(account_id=actor.account_id, id=parse_id("whk", id))
    found = (rows.select_for_update(no_key=True) if lock else rows.select_related("space")).first()
    if found is None:
        raise NotFound("webhook")
    return found


def create_webhook(actor: Actor, wish: Wish) -> NewSecret:
    check_may_manage(actor)
    assert actor.user_id is not None
    place, now = read_url(wish.url), timezone.now()
    webhook = Webhook(account_id=actor.account_id, made_by_id=actor.user_id, created_at=now)
    _take(actor, webhook, wish)
    kept = Kept(place.url, new_secret())
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(id=actor.account_id)  # one after the other
        if Webhook.objects.filter(account_id=actor.account_id).count() >= MOST:
            raise Conflict(f"There are {MOST} webhooks already. Remove one first.")
        _keep(webhook, kept, place)
        webhook.save(force_insert=True)
        record_event(actor, "webhook.created", "webhook", webhook.uid, space_id=webhook.space_id)
    return NewSecret(webhook, kept.secret)


def change_webhook(actor: Actor, id: str, wish: Wish) -> Webhook:
    """With another address the secret stays the same: it is for who holds it to rotate."""
    with transaction.atomic():
        webhook = access_webhook(actor, id, lock=True)
        _take(actor, webhook, wish)
        if wish.url:
            place = read_url(wish.url)
            _keep(webhook, replace(kept_of(webhook), url=place.url), place)
        webhook.save()
        record_event(actor, "webhook.changed", "webhook", webhook.uid, space_id=webhook.space_id)
    return webhook


def rotate_secret(actor: Actor, id: str) -> NewSecret:
    """For a day messages are signed with both; the secret before the last one ends at once."""
    with transaction.atomic():
        webhook = access_webhook(actor, id, lock=True)
        former = kept_of(webhook)
        kept = Kept(former.url, new_secret(), former.secret)
        webhook.sealed, webhook.former_until = _sealed(webhook, kept), timezone.now() + OVERLAP
        webhook.save(update_fields=["sealed", "former_until"])
        record_event(actor, "webhook.rotated", "webhook", webhook.uid, space_id=webhook.space_id)
    return NewSecret(webhook, kept.secret)


def switch_webhook(actor: Actor, id: str, *, on: bool) -> Webhook:
    """Off: nothing is sent, and what waits is given up. On again it begins with what happens from then on."""
    with transaction.atomic():
        webhook = access_webhook(actor, id, lock=True)
        if on:
            webhook.off, webhook.failing_since, webhook.rests_until = "", None, None
            webhook.save(update_fields=["off", "failing_since", "rests_until"])
            record_event(actor, "webhook.enabled", "webhook", webhook.uid, space_id=webhook.space_id)
        else:
            switch_off(actor, webhook, Switched.BY_HAND)
    return webhook


def switch_off(actor: Actor, webhook: Webhook, why: Switched) -> None:
    """On the locked row."""
    webhook.off = why
    webhook.save(update_fields=["off"])
    waiting = Delivery.objects.filter(
        account_id=webhook.account_id, webhook=webhook, state=DeliveryState.PENDING
    )
    waiting.update(state=DeliveryState.FAILED, trouble="switched off", again_at=None)
    record_event(
        actor, "webhook.disabled", "webhook", webhook.uid, space_id=webhook.space_id, summary=str(why)
    )


def remove_webhook(actor: Actor, id: str) -> None:
    """With its secret, and all that was sent."""
    with transaction.atomic():
        webhook = access_webhook(actor, id, lock=True)
        record_event(actor, "webhook.removed", "webhook", webhook.uid, space_id=webhook.space_id)
        webhook.delete()


def kept_of(webhook: Webhook) -> Kept:
    return Kept(**json.loads(unseal(webhook.sealed, row=_row(webhook))))


def reseal_webhooks(account_id: UUID) -> int:
    """Put what is sealed under an older key of the keyring under the first. Answers how many there were."""
    resealed = 0
    with tenant(account_id), transaction.atomic():
        for webhook in Webhook.objects.filter(account_id=account_id).select_for_update(no_key=True):
            if not is_current(webhook.sealed):
                webhook.sealed = _sealed(webhook, kept_of(webhook))
                webhook.save(update_fields=["sealed"])
                resealed += 1
    return resealed


def check_may_manage(actor: Actor) -> None:
    if not actor.is_person:
        raise Forbidden("Only a person manages webhooks, in a browser.")
    require_right(actor, None, Right.MANAGE)


def read_url(url: str) -> Place:
    try:
        return read_place(url.strip())
    except BadAddress as fault:
        raise ValidationFailed({"url": [str(fault)]}) from None


def _take(actor: Actor, webhook: Webhook, wish: Wish) -> None:
    name = check_naming(wish.name)
    unknown = [event for event in wish.events if event not in EVENTS]
    if unknown or not wish.events:
        raise ValidationFailed({"events": [f"Choose at least one of {', '.join(EVENTS)}."]})
    webhook.name, webhook.updated_at = name, timezone.now()
    webhook.events = [event for event in EVENTS if event in wish.events]
    webhook.space = _space(actor, wish.space)


def _space(actor: Actor, space: str) -> Space | None:
    if not space:
        return None
    try:
        return access_space(actor, space)
    except NotFound:
        raise ValidationFailed({"space": ["Choose a space of the team."]}) from None


def _keep(webhook: Webhook, kept: Kept, place: Place) -> None:
    webhook.host, webhook.sealed = place.authority, _sealed(webhook, kept)


def _sealed(webhook: Webhook, kept: Kept) -> str:
    content: dict[str, Any] = {"url": kept.url, "secret": kept.secret, "former": kept.former}
    return seal(json.dumps(content), row=_row(webhook))


def _row(webhook: Webhook) -> str:
    return row_of("actions_webhook", webhook.account_id, webhook.id, "sealed")
