from typing import Any

from accounts.domain.clients import spend_registration
from memoryhub.common.errors import RateLimited


class WithinLimits:
    """A client known by its document is fetched from elsewhere: no more often than clients may register."""

    def has_permission(self, request: Any, client_id: str) -> bool:
        try:
            spend_registration(request.headers.get("REMOTE_ADDR", ""))
        except RateLimited:
            return False
        return True
