"""E-mail addresses in payloads."""

import re
from collections.abc import Sequence
from email.errors import MessageError
from email.headerregistry import Address

from actions.connectors.base import refused

ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")


def addresses(name: str, given: Sequence[str]) -> list[str]:
    """Bare addresses in ASCII, each once: a name in front could pretend to be another."""
    return list(dict.fromkeys(address(f"{name}[{i}]", text) for i, text in enumerate(given)))


def address(name: str, given: str) -> str:
    local, _, domain = given.strip().rpartition("@")
    read = f"{local}@{domain.lower()}"
    if not ADDRESS.fullmatch(read) or not _has_form(read):
        raise refused(name, "Must be an e-mail address alone, like ann@example.org, without a name.")
    return read


def _has_form(text: str) -> bool:
    try:
        Address(addr_spec=text)
    except (MessageError, ValueError, IndexError):
        return False
    return True
