import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from oauth2_provider.models import AbstractApplication

from memoryhub.common.ids import new_id
from memoryhub.common.naming import naming_fault
from memoryhub.common.secrets import cut_text

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PLACE = re.compile(r"(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.IGNORECASE)
"""A host and its port, and nothing that one reader takes for a host and the next for something else."""
MOST_REDIRECTS = 20
LONGEST_REDIRECT = 1000
LONGEST_HOST = 253


class Application(AbstractApplication):  # type: ignore[misc]
    """An OAuth client. It is sent back to its own redirects alone; plain http is for this machine only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta(AbstractApplication.Meta):  # type: ignore[misc]
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"

    def __str__(self) -> str:
        return f"client {self.id}"

    def clean(self) -> None:
        """However it became known: by registering itself, by its document, or by hand."""
        if self.name and (complaint := naming_fault(self.name)):
            raise ValidationError({"name": complaint})
        redirects = self.redirect_uris.split()
        if len(redirects) > MOST_REDIRECTS:
            raise ValidationError({"redirect_uris": f"at most {MOST_REDIRECTS} redirects"})
        for uri in redirects:
            if complaint := redirect_complaint(uri):
                raise ValidationError({"redirect_uris": complaint})
        super().clean()

    def redirect_uri_allowed(self, uri: str) -> bool:
        """What is asked for is held to the same form as what was registered."""
        return not redirect_complaint(uri) and bool(super().redirect_uri_allowed(uri))


def redirect_complaint(uri: str) -> str:
    """What is wrong with it as a redirect, or nothing."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return "not an address"
    if len(uri) > LONGEST_REDIRECT:
        return f"a redirect has at most {LONGEST_REDIRECT} characters"
    if not uri.isascii() or "\\" in uri:
        return "write redirects in ASCII: a host in its xn-- form"
    if len(parts.hostname or "") > LONGEST_HOST:
        return f"a host has at most {LONGEST_HOST} characters"
    if "@" in parts.netloc:
        return "a redirect names no user"
    if parts.fragment or cut_text(uri)[1]:
        return "a redirect has no fragment, and holds no secret"
    if not PLACE.fullmatch(parts.netloc):
        return "not an address: its host can't be read"
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return "http redirects are for this machine only; use https"
    return ""
