"""The event of what happens to an action, and with it whatever tells others: in the transaction of the change."""

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.addresses import mail_is_sent
from accounts.domain.events import record_event
from accounts.domain.jobs import enqueue, enqueue_each
from actions.domain.describe import page_url
from actions.domain.notices.choices import anybody_in_slack
from actions.domain.notices.lane import DELIVER, NOTICES, TELL_PEOPLE
from actions.models import Action, Delivery
from memoryhub.common.canonical import canonical_json
from memoryhub.common.times import format_time

EVENTS = (
    "action.proposed",
    "action.revised",
    "action.seconded",
    "action.approved",
    "action.rejected",
    "action.executing",
    "action.done",
    "action.failed",
    "action.expired",
    "action.cancelled",
    "action.stale",
    "action.in_doubt",
    "action.settled",
)
FOR_PEOPLE = {"action.proposed", "action.stale", "action.in_doubt"}
# Held until the transaction ends: one that is removed meanwhile takes along what was written for it.
WANTING = """
    select id from actions_webhook
     where account_id = %s and off = '' and events @> %s::jsonb and (space_id is null or space_id = %s)
       for key share
"""
SOON = timedelta(seconds=10)
"""Until then it is known whether a rule approves it, and where it leads."""


def tell(actor: Actor, action: Action, event: str) -> None:
    """`action` is as it was before the change; what became of it is the event."""
    record_event(actor, event, "action", action.uid, space_id=action.space_id)
    _tell_webhooks(actor, action, event)
    if event in FOR_PEOPLE and (mail_is_sent() or anybody_in_slack(action.account_id)):
        enqueue(TELL_PEOPLE, action.account_id, action.id, run_after=timezone.now() + SOON)


def _tell_webhooks(actor: Actor, action: Action, event: str) -> None:
    wanting = _wanting(action, event)
    if wanting:
        now = timezone.now()
        body = canonical_json(_message(actor, action, event, now)).decode()
        made = [new_delivery(action.account_id, id, event, body, now, action.space_id) for id in wanting]
        Delivery.objects.bulk_create(made)
        enqueue_each(DELIVER, action.account_id, [delivery.id for delivery in made], lane=NOTICES)


def _wanting(action: Action, event: str) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(WANTING, [action.account_id, json.dumps([event]), action.space_id])
        return [id for (id,) in cursor.fetchall()]


def new_delivery(
    account_id: UUID, webhook_id: UUID, event: str, body: str, now: datetime, space_id: UUID | None
) -> Delivery:
    return Delivery(
        account_id=account_id,
        webhook_id=webhook_id,
        space_id=space_id,
        event=event,
        body=body,
        since=now,
        created_at=now,
    )


def _message(actor: Actor, action: Action, event: str, now: datetime) -> dict[str, Any]:
    """Which action it is. What an agent wrote in it is read on the page, by who may."""
    return {
        "type": event,
        "timestamp": format_time(now),
        "data": {
            "account": action.account.slug,
            "space": action.space.slug,
            "action": {
                "id": action.uid,
                "short_id": action.short_id,
                "class": action.class_name,
                "executor": action.executor,
                "revision": action.revision,
                "expires_at": format_time(action.expires_at),
                "url": page_url(action),
            },
            "by": actor.key,
        },
    }
