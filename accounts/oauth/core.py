from typing import Any

from django.http import HttpRequest
from oauth2_provider.oauth2_backends import OAuthLibCore

from accounts.domain.tokens import checksum


class Core(OAuthLibCore):  # type: ignore[misc]
    """Codes are looked for by their hash: nothing that is kept could be exchanged."""

    def extract_body(self, request: HttpRequest) -> list[tuple[str, Any]]:
        return [
            (name, checksum(value) if name == "code" else value)
            for name, value in super().extract_body(request)
        ]
