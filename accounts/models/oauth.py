from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from oauth2_provider.models import AbstractApplication

from memoryhub.common.ids import new_id

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_REDIRECTS = 20
LONGEST_REDIRECT = 1000


class Application(AbstractApplication):  # type: ignore[misc]
    """An OAuth client. It is sent back to its own redirects alone; plain http is for this machine only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta(AbstractApplication.Meta):  # type: ignore[misc]
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"

    def __str__(self) -> str:
        return f"client {self.id}"

    def clean(self) -> None:
        redirects = self.redirect_uris.split()
        if len(redirects) > MOST_REDIRECTS:
            raise ValidationError({"redirect_uris": f"at most {MOST_REDIRECTS} redirects"})
        for uri in redirects:
            if complaint := redirect_complaint(uri):
                raise ValidationError({"redirect_uris": complaint})
        super().clean()


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
    if "@" in parts.netloc:
        return "a redirect names no user"
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return "http redirects are for this machine only; use https"
    return ""
