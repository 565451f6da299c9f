"""A message to a webhook: one try at a time, later each time, for a day. What comes back is not kept."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from actions.domain.notices.failing import disable
from actions.domain.notices.signatures import signed
from actions.domain.notices.webhooks import kept_of
from actions.models import Delivery, DeliveryState, Switched, Webhook
from memoryhub.common.outward import Answer, NoAnswer, ask
from memoryhub.common.tenancy import tenant

WAITS = tuple(
    timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 8 * 3600)
)
GIVEN_UP_AFTER = timedelta(days=1)
LONG_FAILURE = timedelta(days=3)
"""Without one success; then it is switched off."""
LONGEST_REST = timedelta(minutes=10)
BIGGEST_ANSWER = 64 * 1024
LATER = {408, 425, 429}
GONE = 410

Wait = timedelta | None


@dataclass(frozen=True)
class Message:
    """Everything for the call."""

    account_id: UUID
    delivery_id: UUID
    url: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """How a try ended; `trouble` is "" where it was taken."""

    trouble: str = ""
    status: int | None = None
    retry_after: timedelta | None = None

    @property
    def is_down(self) -> bool:
        """The endpoint itself has trouble, whatever the message."""
        return self.status is None or self.status >= 500 or self.status in LATER


def deliver(account_id: UUID, delivery_id: UUID) -> Wait:
    """One try. Answers when to come back, or None when there is nothing left to do."""
    with tenant(account_id):
        message = _message(account_id, delivery_id)
    if not isinstance(message, Message):
        return message
    outcome = send(message)
    with tenant(account_id):
        return _note(message, outcome)


def _message(account_id: UUID, delivery_id: UUID) -> Message | Wait:
    delivery, now = _pending(account_id, delivery_id), timezone.now()
    if delivery is None:
        return None
    webhook = delivery.webhook
    if webhook.rests_until and webhook.rests_until > now:
        return webhook.rests_until - now
    kept, body = kept_of(webhook), delivery.body.encode()
    keys = [kept.secret, kept.former] if kept.former and webhook.signs_twice(now) else [kept.secret]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"MemoryHub/{settings.VERSION}",
        **signed(delivery.message_id, int(now.timestamp()), body, keys),
    }
    return Message(account_id, delivery_id, kept.url, headers, body)


def _pending(account_id: UUID, delivery_id: UUID) -> Delivery | None:
    rows = Delivery.objects.filter(account_id=account_id, id=delivery_id, state=DeliveryState.PENDING)
    return rows.select_related("webhook").first()


def send(message: Message) -> Outcome:
    try:
        answer = ask(
            "POST",
            message.url,
            headers=message.headers,
            content=message.body,
            seconds=settings.WEBHOOK_SECONDS,
            most=BIGGEST_ANSWER,
        )
    except NoAnswer as fault:
        return Outcome(fault.reason[:80])
    if 200 <= answer.status < 300:
        return Outcome(status=answer.status)
    return Outcome(f"answered {answer.status}", answer.status, _retry_after(answer))


def _retry_after(answer: Answer) -> timedelta | None:
    try:
        seconds = float(answer.headers.get("retry-after", ""))
    except ValueError:
        return None
    return timedelta(seconds=min(seconds, 3600)) if seconds > 0 else None


def _note(message: Message, outcome: Outcome) -> Wait:
    """Under the lock of the webhook, which is taken before its deliveries' everywhere."""
    rows = Webhook.objects.filter(account_id=message.account_id, deliveries__id=message.delivery_id)
    webhook = rows.select_for_update(no_key=True, of=("self",)).first()
    delivery = _pending(message.account_id, message.delivery_id)
    if webhook is None or delivery is None:
        return None
    now = timezone.now()
    delivery.tries, delivery.tried_at = delivery.tries + 1, now
    delivery.status, delivery.trouble = outcome.status, outcome.trouble
    wait = _after_failure(webhook, delivery, outcome, now) if outcome.trouble else _taken(webhook, delivery)
    delivery.again_at = now + wait if wait else None
    delivery.save()
    return wait


def _taken(webhook: Webhook, delivery: Delivery) -> Wait:
    delivery.state = DeliveryState.DELIVERED
    if webhook.failing_since or webhook.rests_until:
        webhook.failing_since = webhook.rests_until = None
        webhook.save(update_fields=["failing_since", "rests_until"])
    return None


def _after_failure(webhook: Webhook, delivery: Delivery, outcome: Outcome, now: datetime) -> Wait:
    wait = outcome.retry_after or _later(delivery.tries)
    webhook.failing_since = webhook.failing_since or now
    webhook.rests_until = now + min(wait, LONGEST_REST) if outcome.is_down else None
    webhook.save(update_fields=["failing_since", "rests_until"])
    gone = outcome.status == GONE
    if not gone and now + wait <= delivery.since + GIVEN_UP_AFTER:
        return wait
    delivery.state = DeliveryState.FAILED
    if gone or now - webhook.failing_since >= LONG_FAILURE:
        disable(webhook, Switched.GONE if gone else Switched.FAILING, outcome.trouble)
    return None


def _later(tries: int) -> timedelta:
    return WAITS[min(tries, len(WAITS)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 (spreads load)
