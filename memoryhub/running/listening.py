"""The sockets people and agents connect to, opened before anything else so that trouble shows at once."""

from __future__ import annotations

import errno
import ipaddress
import socket

from memoryhub.running.errors import SetupError

BACKLOG = 1024
LOOPBACK = "127.0.0.1"


def listen(host: str, port: int) -> list[socket.socket]:
    """Listen on every address of `host`. The default host stands for localhost in both families, if there are two."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        sockets = [_listen(family, address) for family, _, _, _, address in found]
    except socket.gaierror:
        raise SetupError(f"{host!r} is not an address of this machine. Give another --host.") from None
    except OSError as error:
        raise SetupError(_explain(error, host, port)) from None
    return sockets + (_also_ipv6(sockets[0].getsockname()[1]) if host == LOOPBACK else [])


def is_exposed(sock: socket.socket) -> bool:
    """Whether other machines can reach it."""
    return not ipaddress.ip_address(sock.getsockname()[0]).is_loopback


def reachable(sock: socket.socket) -> tuple[str, int]:
    """An address to reach a listening socket at from this machine."""
    host, port = sock.getsockname()[:2]
    return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host), port  # noqa: S104


def _listen(family: int, address: object) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)  # type: ignore[arg-type]
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def _also_ipv6(port: int) -> list[socket.socket]:
    try:
        return [_listen(socket.AF_INET6, ("::1", port))]
    except OSError:
        return []


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken by another program. Stop that one, or give another --port."
    if error.errno == errno.EACCES:
        return f"Port {port} is reserved for root. Give a --port above 1023."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host!r} is not an address of this machine. Give another --host."
    return f"Cannot listen on {host}, port {port}: {error.strerror}."
