from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from oauth2_provider.models import AbstractApplication

from memoryhub.common.ids import new_id

LOOPBACK = {"localhost", "127.0.0.1", "[::1]", "::1"}


class Application(AbstractApplication):  # type: ignore[misc]
    """An OAuth client. Plain http redirects are for this machine only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta(AbstractApplication.Meta):  # type: ignore[misc]
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"

    def clean(self) -> None:
        for uri in self.redirect_uris.split():
            parts = urlsplit(uri)
            if parts.scheme == "http" and parts.hostname not in LOOPBACK:
                raise ValidationError(
                    {"redirect_uris": "http redirects are for this machine only; use https"}
                )
        super().clean()
