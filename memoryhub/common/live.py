"""Hints to open pages that something has changed: ids and a version, never content.

Without Redis, a hint is a NOTIFY in the writing transaction, and one task in each web process listens and feeds
that process's in-memory channel layer. With CHANNEL_LAYER_URL the Redis layer carries it between processes.
The database is the truth; a page that gets a hint fetches what it shows, under its own rights.
"""

import json
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection, transaction

CHANNEL = "hub_live"
INBOX, KEYS = "inbox", "keys"
EVERYONE = "live"


def group(account_id: UUID, space_id: UUID | None = None) -> str:
    """The sockets of a space, or those of the whole account."""
    return f"live.{account_id.hex}.{space_id.hex}" if space_id else f"live.{account_id.hex}"


def publish(account_id: UUID, space_id: UUID | None, topic: str, version: int) -> None:
    """Tell open pages, when the current transaction is committed. Without a space: all of the account's."""
    hint = {"topic": topic, "version": version}
    to = group(account_id, space_id)
    if settings.CHANNEL_LAYER_URL:
        transaction.on_commit(lambda: _send(to, hint), robust=True)
        return
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [CHANNEL, json.dumps({"to": to, **hint})])


def _send(to: str, hint: dict[str, Any]) -> None:
    async_to_sync(get_channel_layer().group_send)(to, {"type": "live.hint", **hint})
