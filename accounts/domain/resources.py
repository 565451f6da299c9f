"""What a token is good for (RFC 8707): the addresses that agents call here, and whatever they are below."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings

from accounts.scopes import FAMILIES

PORTS = {"http": 80, "https": 443}


def whole_hub() -> str:
    """What is meant by who names nothing."""
    return f"{settings.PUBLIC_URL}/mcp"


def rest_api() -> str:
    return f"{settings.PUBLIC_URL}/v1"


def known_resources() -> frozenset[str]:
    """Each that a token may be asked for. The hub's own address is the parent of all."""
    families = (f"{whole_hub()}/{family}" for family in FAMILIES)
    return frozenset({settings.PUBLIC_URL, whole_hub(), rest_api(), *families})


def known_resource(uri: str) -> str | None:
    """The one that is meant, whatever the case of its host, its default port or a slash at its end."""
    spelt = _canonical(uri)
    return next((known for known in known_resources() if spelt and _canonical(known) == spelt), None)


def covers(audience: Iterable[str], resource: str) -> bool:
    """Whether a token for these is good at that address: one is the same, or a parent of it."""
    return any(resource == each or resource.startswith(f"{each}/") for each in audience)


def _canonical(uri: str) -> tuple[str, str | None, int | None, str] | None:
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    if parts.query or "#" in uri or "@" in parts.netloc or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or PORTS.get(parts.scheme), parts.path.rstrip("/")
