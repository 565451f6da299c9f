"""Hints to open pages, and to those who follow events, that something has changed: ids and a version only.

Without Redis, a hint is a NOTIFY in the writing transaction, and one task in each web process listens and feeds
that process's in-memory channel layer. With CHANNEL_LAYER_URL the Redis layer carries it between processes.
The database is the truth; whoever gets a hint fetches what it may see, under its own rights.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import BaseChannelLayer, get_channel_layer
from django.conf import settings
from django.db import connection, transaction
from psycopg import AsyncConnection, OperationalError

log = logging.getLogger(__name__)

CHANNEL = "hub_live"
INBOX, KEYS, EVENTS, MEMBERS = "inbox", "keys", "events", "members"
EVERYONE = "live"
LISTENER = "memoryhub live"
CONNECTED_BY = ("host", "port", "dbname", "user", "password", "sslmode", "sslrootcert", "sslcert", "sslkey")
RECONNECT_SECONDS = 1.0
PROBE_SECONDS = 30.0

_listener: asyncio.Task[None] | None = None


def group(account_id: UUID, space_id: UUID | None = None) -> str:
    """The sockets of a space, or those of the whole account."""
    return f"live.{account_id.hex}.{space_id.hex}" if space_id else f"live.{account_id.hex}"


def publish(account_id: UUID, space_id: UUID | None, topic: str, version: int) -> None:
    """Tell open pages, when the current transaction is committed. Without a space: all of the account's."""
    _publish({"to": group(account_id, space_id), "topic": topic, "version": version})


def followers(account_id: UUID) -> str:
    """Those who wait for the account's next events."""
    return f"events.{account_id.hex}"


def publish_events(account_id: UUID, seq: int) -> None:
    """Tell those who follow the account's events, when the current transaction is committed."""
    _publish({"to": followers(account_id), "topic": EVENTS, "version": seq})


def _publish(hint: dict[str, Any]) -> None:
    if settings.CHANNEL_LAYER_URL:
        transaction.on_commit(lambda: async_to_sync(_forward)(hint), robust=True)
        return
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [CHANNEL, json.dumps(hint)])


def listen() -> None:
    """Start this process's listener, unless it runs. Nothing is awaited here, so calls can't race."""
    global _listener
    if settings.CHANNEL_LAYER_URL:
        return
    loop = asyncio.get_running_loop()
    if _listener is None or _listener.done() or _listener.get_loop() is not loop:
        _listener = loop.create_task(_keep_listening())


@asynccontextmanager
async def hints(to: str) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
    """A function that waits, so many seconds at most, until something may have changed for this group."""
    layer = _layer()
    channel = await layer.new_channel()

    async def next_hint(seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(layer.receive(channel), seconds)

    groups = (to, EVERYONE)
    for name in groups:
        await layer.group_add(name, channel)
    listen()
    try:
        yield next_hint
    finally:
        for name in groups:
            await layer.group_discard(name, channel)


async def _keep_listening() -> None:
    while True:
        try:
            await _listen()
        except OperationalError:
            log.warning("live updates: the database's connection is lost; trying again")
        await asyncio.sleep(RECONNECT_SECONDS)


async def _listen() -> None:
    """Forwards until the connection is lost. Whatever was missed before it began is made up for by a resync."""
    async with await AsyncConnection.connect(
        autocommit=True, application_name=LISTENER, **_connection_parameters()
    ) as listening:
        await listening.execute(f"listen {CHANNEL}")
        await _layer().group_send(EVERYONE, {"type": "live.resync"})
        while True:
            async for notification in listening.notifies(timeout=PROBE_SECONDS):
                await _take(notification.payload)
            await listening.execute("select 1")  # fails where the other side has vanished silently


async def _take(payload: str) -> None:
    """Anybody with a login can NOTIFY: what isn't ours is dropped."""
    try:
        await _forward(json.loads(payload))
    except (ValueError, TypeError, KeyError):
        log.warning("live updates: a notification that can't be read was dropped")


async def _forward(hint: dict[str, Any]) -> None:
    event = {"type": "live.hint", "topic": str(hint["topic"]), "version": int(hint["version"])}
    await _layer().group_send(hint["to"], event)


def _layer() -> BaseChannelLayer:
    return get_channel_layer()


def _connection_parameters() -> dict[str, Any]:
    given = connection.get_connection_params()
    return {name: given[name] for name in CONNECTED_BY if given.get(name)}
