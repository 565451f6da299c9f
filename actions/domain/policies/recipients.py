"""Whom a payload reaches by mail, and whether a rule's names mean them.

A rule that approves reads its names narrowly: everybody reached has to be named. One that denies or asks reads them
widely: anybody named is enough, under whatever spelling.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import idna

Payload = Mapping[str, Any]

BELOW = "*."
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
DOMAIN = re.compile(rf"{LABEL}(?:\.{LABEL})*")
TAG = "+"


def domain_spelt(name: str) -> str:
    """As mail systems write it: in ASCII (`xn--…`), lower case, without the dot of the root."""
    bare = name.strip().removeprefix("@").rstrip(".。．｡")
    try:
        return idna.encode(bare, uts46=True).decode().lower()
    except idna.IDNAError:
        return bare.lower()


def is_domain(name: str) -> bool:
    return DOMAIN.fullmatch(domain_spelt(name.strip().removeprefix(BELOW))) is not None


def is_address(name: str) -> bool:
    local, at, domain = name.strip().rpartition("@")
    return bool(local and at) and is_domain(domain)


def everybody_in(*members: str) -> Callable[[Payload, Any], bool]:
    """Every address of these members, of which there is at least one, has one of the domains."""

    def holds(payload: Payload, domains: Any) -> bool:
        found = addresses_in(payload, members)
        return bool(found) and all(_lies_in(address, domains) for address in found)

    return holds


def somebody_in(*members: str) -> Callable[[Payload, Any], bool]:
    """Any address of these members has one of the domains, or lies below one."""
    return lambda payload, domains: any(
        _lies_in(address, domains, below=True) for address in addresses_in(payload, members)
    )


def everybody_of(*members: str) -> Callable[[Payload, Any], bool]:
    """Every address of these members, of which there is at least one, is one of those named."""

    def holds(payload: Payload, named: Any) -> bool:
        wanted = {_address_spelt(address) for address in named}
        found = addresses_in(payload, members)
        return bool(found) and all(_address_spelt(address) in wanted for address in found)

    return holds


def somebody_of(*members: str) -> Callable[[Payload, Any], bool]:
    """Any address of these members is one of those named, with a tag (`ann+list@…`) or without."""

    def touched(payload: Payload, named: Any) -> bool:
        wanted = {_untagged(address) for address in named}
        return any(_untagged(address) in wanted for address in addresses_in(payload, members))

    return touched


def addresses_in(payload: Payload, members: Iterable[str]) -> list[str]:
    """A member is a list of addresses, or a name that may be one: somebody else's calendar."""
    listed = [payload.get(member) or [] for member in members]
    return [
        address
        for told in listed
        for address in ([told] if isinstance(told, str) else told)
        if "@" in address
    ]


def _lies_in(address: str, domains: Iterable[str], *, below: bool = False) -> bool:
    domain = domain_spelt(address.rpartition("@")[2])
    return any(_is_within(domain, named.strip(), below=below) for named in domains)


def _is_within(domain: str, named: str, *, below: bool) -> bool:
    base = domain_spelt(named.removeprefix(BELOW))
    under = domain.endswith(f".{base}")
    if named.startswith(BELOW):
        return under or (below and domain == base)
    return domain == base or (below and under)


def _address_spelt(address: str) -> str:
    local, _, domain = address.strip().rpartition("@")
    return f"{local.lower()}@{domain_spelt(domain)}"


def _untagged(address: str) -> str:
    local, _, domain = _address_spelt(address).rpartition("@")
    return f"{local.partition(TAG)[0] or local}@{domain}"
