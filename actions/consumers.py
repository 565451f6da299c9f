"""The socket of an open page. It says that something has changed, never what."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http.request import split_domain_port, validate_host

from accounts.domain.accounts import person_actor
from accounts.domain.sessions import Holder, person_of, roles_of, session_key_in
from accounts.scopes import Role
from memoryhub.common import live
from memoryhub.common.errors import HubError
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import in_db_thread
from spaces.domain.access import access_space

log = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 1.0
CHANGED = 4001  # the page may connect again, in its new role
ENDED = 4401  # signed out, or no longer of this account or space


@dataclass(frozen=True)
class Seat:
    """What lets a socket listen, as it was found in the database. `version` is the inbox's."""

    holder: Holder
    role: Role
    space_id: UUID
    version: int


def take_seat(session_key: str, account: str, space: str) -> Seat | None:
    """The same questions as a page's: whose session, which account, may they read this space."""
    person = person_of(session_key)
    if person is None:
        return None
    try:
        actor = person_actor(person, account)
        with tenant(actor.account_id):
            found = access_space(actor, space)
    except HubError:
        return None
    return Seat(Holder(session_key, person.id, actor.account_id), actor.role, found.id, found.inbox_version)


class LiveConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]
    """One page of one space. Each hint is sent only after the seat was looked up again."""

    open: ClassVar[set["LiveConsumer"]] = set()
    watching: ClassVar[asyncio.Task[None] | None] = None

    seat: Seat | None = None
    sent = -1

    async def connect(self) -> None:
        self.seat = await self.look() if is_own_origin(self.scope) else None
        if self.seat is None:
            await self.close()
            return
        for name in self.rooms():
            await self.channel_layer.group_add(name, self.channel_name)
        await self.accept()
        LiveConsumer.open.add(self)
        live.listen()
        watch()
        await self.live_resync({})

    async def disconnect(self, code: int) -> None:
        LiveConsumer.open.discard(self)
        for name in self.rooms():
            await self.channel_layer.group_discard(name, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say here."""

    async def live_resync(self, event: dict[str, Any]) -> None:
        """Hints may have been missed: tell where the inbox is."""
        await self.live_hint({"topic": live.INBOX, "version": self.sent + 1})

    async def live_hint(self, event: dict[str, Any]) -> None:
        """The inbox's version is sent as it is by now, so that a hint that was dropped costs nothing."""
        is_inbox = event["topic"] == live.INBOX
        if is_inbox and event["version"] <= self.sent:
            return
        seat = await self.look()
        if seat is None or self.seat is None or seat.role != self.seat.role:
            await self.leave(seat.role if seat else None)
        elif not is_inbox:
            await self.hint(seat, event["topic"], event["version"])
        elif seat.version > self.sent:
            self.sent = seat.version
            await self.hint(seat, live.INBOX, seat.version)

    async def hint(self, seat: Seat, topic: str, version: int) -> None:
        await self.send_json({"space": typed_id("spc", seat.space_id), "topic": topic, "version": version})

    async def look(self) -> Seat | None:
        place = self.scope["url_route"]["kwargs"]
        return await in_db_thread(take_seat, self.session_key(), place["account"], place["space"])

    async def leave(self, role: Role | None) -> None:
        LiveConsumer.open.discard(self)
        await self.close(code=CHANGED if role else ENDED)

    def session_key(self) -> str:
        return session_key_in(header(self.scope, b"cookie"))

    def rooms(self) -> list[str]:
        if self.seat is None:
            return []
        account_id = self.seat.holder.account_id
        return [live.EVERYONE, live.group(account_id), live.group(account_id, self.seat.space_id)]


def is_own_origin(scope: dict[str, Any]) -> bool:
    """Only pages of this site: browsers send cookies along from anywhere."""
    origin, host = header(scope, b"origin").lower(), header(scope, b"host").lower()
    if origin in settings.ALLOWED_ORIGINS:
        return True
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    here = urlsplit(origin).netloc == host and origin == f"{scheme}://{host}"
    return here and validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)


def header(scope: dict[str, Any], name: bytes) -> str:
    return next((value.decode("latin1") for key, value in scope["headers"] if key == name), "")


def watch() -> None:
    """Start looking after this process's sockets, unless that is being done."""
    running, loop = LiveConsumer.watching, asyncio.get_running_loop()
    if running is None or running.done() or running.get_loop() is not loop:
        LiveConsumer.watching = loop.create_task(_watch())


async def _watch() -> None:
    """Close within moments what has lost its right without any hint: signed out, removed, another role."""
    while LiveConsumer.open:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        try:
            await _look_after(list(LiveConsumer.open))
        except (OperationalError, InterfaceError):
            log.warning("live updates: sockets can't be looked after while the database is away")


async def _look_after(sockets: list[LiveConsumer]) -> None:
    seats = {socket: socket.seat for socket in sockets if socket.seat}
    roles = await in_db_thread(roles_of, {seat.holder for seat in seats.values()})
    for socket, seat in seats.items():
        if roles[seat.holder] != seat.role:
            await socket.leave(roles[seat.holder])
