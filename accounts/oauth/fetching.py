"""How a client's document is fetched: by the one way out to addresses that somebody named."""

from io import BytesIO
from typing import Any

from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher
from oauth2_provider.settings import oauth2_settings
from urllib3 import HTTPResponse

from accounts.domain.clients import spend_registration
from memoryhub.common.errors import RateLimited
from memoryhub.common.outward import NoAnswer, ask

ACCEPTED = {"Accept": "application/json, application/*+json"}


class WithinLimits:
    """A client known by its document is fetched from elsewhere: no more often than clients may register."""

    def has_permission(self, request: Any, client_id: str) -> bool:
        try:
            spend_registration(request.headers.get("REMOTE_ADDR", ""))
        except RateLimited:
            return False
        return True


class Fetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """What a document may say is decided by the toolkit; where it may come from, here."""

    def fetch(self, client_id: str) -> Any:
        check_client_id(client_id)
        try:
            answer = ask(
                "GET",
                client_id,
                headers=ACCEPTED,
                seconds=oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS,
                most=oauth2_settings.CIMD_MAX_DOCUMENT_SIZE,
            )
        except NoAnswer as fault:
            raise CIMDError(fault.reason) from None
        return self._read_document(
            HTTPResponse(BytesIO(answer.content), answer.headers, answer.status, preload_content=False)
        )


def check_client_id(client_id: str) -> None:
    """A path is part of a client's id, and one that leads up is none."""
    _scheme, _, rest = client_id.partition("://")
    path = rest.partition("?")[0].partition("/")[2]
    if "/" not in rest.partition("?")[0] or any(part in (".", "..") for part in path.split("/")):
        raise CIMDError("client_id has no plain path")
