"""One request to an address that somebody named, within a time, and no more of the answer than was asked for."""

import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpcore2
import httpx2

from memoryhub.common.outward.addresses import is_listed, may_be_asked
from memoryhub.common.outward.places import BadAddress, Place, read_place
from memoryhub.common.threads import let_go


class NoAnswer(Exception):
    """There is no answer that can be used. `reason` is a few words that hold nothing of what was sent."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotAsked(NoAnswer):
    """Nothing was connected to: the address is refused, or can't be found."""


@dataclass(frozen=True)
class Answer:
    """`headers` are by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def ask(
    method: str, url: str, *, headers: Mapping[str, str], content: bytes = b"", seconds: float, most: int
) -> Answer:
    """One request, once, and no redirect is followed: each is an answer like others. Raises NoAnswer.

    `seconds` are for all of it. Past `most` bytes of an answer's content it is refused as too long. Not to be called
    inside a transaction; the thread's connection to the database is given back first.
    """
    try:
        place = read_place(url)
    except BadAddress as fault:
        raise NotAsked(str(fault)) from None
    let_go()
    deadline = Deadline(seconds)
    try:
        with _pool(place, deadline) as pool:
            return _exchange(pool, method, place, headers, content, most)
    except httpcore2.TimeoutException:
        raise NoAnswer("no answer in time") from None
    except httpcore2.ConnectError as error:
        raise NotAsked(_why(error)) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError):
        raise NoAnswer("the connection broke off") from None


def _exchange(
    pool: httpcore2.ConnectionPool,
    method: str,
    place: Place,
    headers: Mapping[str, str],
    content: bytes,
    most: int,
) -> Answer:
    sent = {"Host": place.authority, "Content-Length": str(len(content)), "Connection": "close", **headers}
    if not content and method == "GET":
        del sent["Content-Length"]
    with pool.stream(method, place.url, headers=list(sent.items()), content=content or None) as response:
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Answer(response.status, told, _read(response.iter_stream(), most))


def _read(pieces: Iterable[bytes], most: int) -> bytes:
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > most:
            raise NoAnswer("the answer is too long")
    return bytes(content)


def _pool(place: Place, deadline: "Deadline") -> httpcore2.ConnectionPool:
    """For one connection. Nothing of the environment, such as a proxy, stands between."""
    return httpcore2.ConnectionPool(
        ssl_context=_ssl_context() if place.scheme == "https" else None,
        max_connections=1,
        max_keepalive_connections=0,
        retries=0,
        network_backend=Guarded(place, deadline),
    )


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _why(error: Exception) -> str:
    if isinstance(error.args[0] if error.args else None, ssl.SSLError):
        return "its certificate is not accepted"
    return str(error) if isinstance(error, Refused) else "it can't be reached"


class Refused(httpcore2.ConnectError):
    """By us, before any connection."""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self, error: type[httpcore2.TimeoutException]) -> float:
        left = self._at - time.monotonic()
        if left <= 0:
            raise error()
        return left


class Guarded(httpcore2.NetworkBackend):
    """Connects to what a name resolves to, if every address of it may be asked: to the address that was looked at,
    so that a second look-up can't lead elsewhere."""

    def __init__(self, place: Place, deadline: Deadline) -> None:
        self._place, self._deadline = place, deadline
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        fault: Exception = Refused("its host has no address")
        for address in addresses_of(self._place):
            left = self._deadline.left(httpcore2.ConnectTimeout)
            try:
                return Timed(
                    self._plain.connect_tcp(address, port, left, socket_options=socket_options),
                    self._deadline,
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                fault = error
        raise fault


def addresses_of(place: Place) -> list[str]:
    """All that it resolves to; one that may not be asked speaks against all of them."""
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        raise Refused("its host can't be found") from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    allowed = may_be_asked if place.is_ordinary else is_listed
    if not all(_is(allowed, address) for address in addresses):
        raise Refused("its host leads to an address that is not public")
    return addresses


def _is(allowed: Any, address: str) -> bool:
    try:
        return bool(allowed(address))
    except ValueError:
        return False


class Timed(httpcore2.NetworkStream):
    """A stream that ends with the deadline, however slowly it goes on."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._deadline.left(httpcore2.ConnectTimeout)
        return Timed(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
