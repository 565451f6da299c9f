"""An address that somebody typed, read strictly: what could be understood in two ways is refused."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

from memoryhub.common.outward.addresses import is_listed, listed_networks, may_be_asked

LONGEST = 2000
PORTS = {"https": 443, "http": 80}
ORDINARY = (443, 8443)
URL = re.compile(r"(https?)://([^/?#\\@\s]+)((?:/[^\s#\\]*)?(?:\?[^\s#\\]*)?)", re.IGNORECASE)
AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]%]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
LOCAL_NAMES = (
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "home.arpa",
    "onion",
)
"""Endings of names that are never public."""


class BadAddress(ValueError):
    """It can't be asked. The message says why, and repeats nothing of it."""


@dataclass(frozen=True)
class Place:
    """`host` is a name in ASCII or an IP address; `target` is path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def is_ordinary(self) -> bool:
        """What any public host may be asked by; anything else only what the operator lists."""
        return self.scheme == "https" and self.port in ORDINARY

    @property
    def authority(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def read_place(url: str) -> Place:
    """Raises BadAddress. What its name resolves to is looked at when it is asked, each time."""
    found = URL.fullmatch(url) if url.isprintable() and len(url) <= LONGEST else None
    if found is None:
        raise BadAddress("Must be a web address, beginning with https://, without user name, spaces or #.")
    scheme, (host, port) = found[1].lower(), _authority(found[2])
    place = Place(scheme, host, port if port is not None else PORTS[scheme], _target(found[3]))
    _check(place)
    return place


def _authority(text: str) -> tuple[str, int | None]:
    found = AUTHORITY.fullmatch(text)
    if found is None:
        raise BadAddress("Its host is in no form that is known here.")
    port = int(found[2]) if found[2] else None
    if port is not None and not 0 < port < 65536:
        raise BadAddress("Its port must be from 1 to 65535.")
    return _host(found[1]), port


def _host(text: str) -> str:
    if text.startswith("["):
        return _ipv6(text[1:-1])
    name = _ascii(text).removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise BadAddress("Its host is no name that can be looked up.")
    return _ipv4(name) if labels[-1].isdigit() or labels[-1].startswith("0x") else name


def _ascii(text: str) -> str:
    if text.isascii():
        return text.lower()
    try:
        return idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode()
    except (idna.IDNAError, UnicodeError):
        raise BadAddress("Its host is no name that can be looked up.") from None


def _ipv4(text: str) -> str:
    """A name that ends in a number is an address, and there is one way to write it."""
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise BadAddress("Its host is an IP address in an unusual form. Write it as four numbers.") from None


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise BadAddress("Its host is no IPv6 address.") from None


def _target(text: str) -> str:
    if not text.isascii():
        raise BadAddress("Its path must be percent-encoded.")
    return text if text.startswith("/") else f"/{text}"


def _check(place: Place) -> None:
    if not listed_networks():
        _check_ordinary(place)
    is_address = ":" in place.host or place.host[-1].isdigit()
    if is_address and not (may_be_asked(place.host) if place.is_ordinary else is_listed(place.host)):
        raise BadAddress("Its host is an address that is not public.")


def _check_ordinary(place: Place) -> None:
    if place.scheme != "https":
        raise BadAddress("Must begin with https://.")
    if place.port not in ORDINARY:
        raise BadAddress("Its port must be 443 or 8443.")
    name = place.host
    local = any(name == ending or name.endswith(f".{ending}") for ending in LOCAL_NAMES)
    if local or ("." not in name and ":" not in name):
        raise BadAddress("Its host is a name that is not public.")
