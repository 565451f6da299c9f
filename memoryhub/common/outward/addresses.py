"""Which IP addresses may be connected to on the word of somebody who isn't the operator."""

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

INSIDE = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
"""Private, shared, loopback, link-local, documentation, benchmarks, multicast, reserved; and Azure's own service."""

GLOBAL = IPv6Network("2000::/3")
NOT_GLOBAL = tuple(
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48")
)
"""Of what is allocated: Teredo and other protocols' own, documentation, 6to4, AS112."""

NAT64 = IPv6Network("64:ff9b::/96")
"""What a network without IPv4 calls an IPv4 address, which is what counts."""

NEVER = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32",
        "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128",
    )
)  # fmt: skip
"""Not even where the operator lists a network that holds them: where clouds hand out credentials, and no hosts."""


def may_be_asked(text: str) -> bool:
    """Whether a connection may go to this address, as a resolver tells it."""
    try:
        address = _meant(ip_address(text))
    except ValueError:
        return False
    return is_public(address) or is_listed(address)


def is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address.is_global and not _within(address, INSIDE)
    return address.is_global and address in GLOBAL and not _within(address, NOT_GLOBAL)


def is_listed(address: Address | str) -> bool:
    """Whether the operator lets people name it, though it may be inside."""
    found = _meant(ip_address(address)) if isinstance(address, str) else address
    return _within(found, listed_networks()) and not _within(found, NEVER)


def listed_networks() -> tuple[Network, ...]:
    return _networks(tuple(settings.OUTGOING_NETWORKS))


@cache
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


def _meant(address: Address) -> Address:
    """An IPv4 address in the clothes of NAT64 is that address."""
    if isinstance(address, IPv6Address) and address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
