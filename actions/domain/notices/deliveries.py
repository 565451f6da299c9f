"""What was sent to a webhook, and sending more of it."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.jobs import enqueue
from accounts.models import Account
from actions.domain.notices.lane import DELIVER, NOTICES
from actions.domain.notices.telling import new_delivery
from actions.domain.notices.webhooks import access_webhook
from actions.models import Delivery, DeliveryState, Notice, Webhook, WebhookLetter
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import Conflict, NotFound
from memoryhub.common.ids import parse_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.times import format_time

TEST = "webhook.test"
PAGE = 30
KEPT = timedelta(days=30)


def list_deliveries(actor: Actor, webhook: Webhook, *, token: str | None = None) -> Page[Delivery]:
    """Newest first."""
    rows = Delivery.objects.filter(account_id=actor.account_id, webhook=webhook)
    filters = {"webhook": str(webhook.id)}
    return page_of(rows, token=token, size=PAGE, actor_key=actor.key, filters=filters)


def send_test(actor: Actor, id: str) -> Delivery:
    """A message that tells of nothing, the same way as every other."""
    now = timezone.now()
    with transaction.atomic():
        webhook = _switched_on(actor, id)
        account = Account.objects.only("slug").get(id=actor.account_id)
        data = {"account": account.slug, "webhook": webhook.uid}
        body = canonical_json({"type": TEST, "timestamp": format_time(now), "data": data}).decode()
        delivery = new_delivery(actor.account_id, webhook.id, TEST, body, now, webhook.space_id)
        delivery.save(force_insert=True)
        enqueue(DELIVER, actor.account_id, delivery.id, lane=NOTICES)
    return delivery


def deliver_again(actor: Actor, id: str, delivery_id: str) -> Delivery:
    """The same message, under its id, at once and for another day."""
    with transaction.atomic():
        webhook = _switched_on(actor, id)
        found = _access(webhook, delivery_id)
        if found.state == DeliveryState.PENDING:
            raise Conflict("It is being sent already.")
        found.state, found.tries, found.since = DeliveryState.PENDING, 0, timezone.now()
        found.status, found.trouble, found.again_at = None, "", None
        found.save()
        enqueue(DELIVER, actor.account_id, found.id, lane=NOTICES)
    return found


def purge_notices(account_id: UUID) -> None:
    """What is a month old, and over."""
    old = timezone.now() - KEPT
    over = Delivery.objects.filter(account_id=account_id, created_at__lt=old, since__lt=old)
    over.exclude(state=DeliveryState.PENDING).delete()
    Notice.objects.filter(Q(told_at__lt=old) | Q(created_at__lt=old), account_id=account_id).delete()
    WebhookLetter.objects.filter(account_id=account_id, created_at__lt=old).delete()


def _switched_on(actor: Actor, id: str) -> Webhook:
    """Somebody is waiting for it, so it doesn't rest."""
    webhook = access_webhook(actor, id, lock=True)
    if webhook.off:
        raise Conflict("This webhook is off. Switch it on first.")
    if webhook.rests_until:
        webhook.rests_until = None
        webhook.save(update_fields=["rests_until"])
    return webhook


def _access(webhook: Webhook, id: str) -> Delivery:
    rows = Delivery.objects.filter(account_id=webhook.account_id, webhook=webhook, id=parse_id("dlv", id))
    found = rows.select_for_update(no_key=True).first()
    if found is None:
        raise NotFound("delivery")
    return found
