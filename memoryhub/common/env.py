"""Settings from the environment. A variable that is set but empty counts as absent."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
REDIS = frozenset({"redis", "rediss", "redis+socket", "sentinel", "unix"})


class BadEnvironment(ValueError):
    """A variable is missing or unreadable. The message names it and never shows its value."""


def envstr(name: str, default: str = "") -> str:
    return os.environ.get(name) or default


def envbool(name: str, default: bool = False) -> bool:
    text = envstr(name).strip().lower()
    if not text:
        return default
    if text in TRUE_WORDS or text in FALSE_WORDS:
        return text in TRUE_WORDS
    raise BadEnvironment(f"{name} must be one of 1, true, yes, on, 0, false, no or off.")


def envint(name: str, default: int = 0) -> int:
    text = envstr(name).strip()
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise BadEnvironment(f"{name} must be a whole number.") from None


def envlist(name: str, default: Sequence[str] = ()) -> list[str]:
    """Items between commas, trimmed, empty ones left out."""
    items = [item.strip() for item in envstr(name).split(",")]
    return [item for item in items if item] or list(default)


def envredis(name: str, default: str = "", *, package: str = "redis") -> str:
    """An address. If it is one of Redis, the packages for it, which are an extra, have to be there."""
    address = envstr(name, default)
    if urlsplit(address).scheme in REDIS and find_spec(package) is None:
        raise BadEnvironment(
            f"{name} names a Redis, and the packages for it are not installed. Run: pip install '.[redis]'"
        )
    return address


def envnetworks(name: str) -> list[str]:
    """Networks of IP addresses between commas, such as 10.1.0.0/16; one address is a network too."""
    try:
        return [str(ip_network(item)) for item in envlist(name)]
    except ValueError:
        raise BadEnvironment(
            f"{name} must be networks such as 10.1.0.0/16, with commas between them."
        ) from None


def envsecret(name: str, default: str = "") -> str:
    """The value of NAME, else the content of the file that NAME_FILE names (without the final line break)."""
    if value := envstr(name):
        return value
    path = envstr(f"{name}_FILE")
    if not path:
        return default
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadEnvironment(f"{name}_FILE names a file that cannot be read.") from fault
