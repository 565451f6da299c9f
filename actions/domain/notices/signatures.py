"""How a message to a webhook is signed: by the convention Standard Webhooks, which receivers have libraries for."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX, BYTES = "whsec_", 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def signed(message_id: str, timestamp: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """The headers; a signature under each of the secrets, so that a receiver may know either."""
    content = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{_signature(content, key)}" for key in keys),
    }


def _signature(content: bytes, key: str) -> str:
    raw = base64.b64decode(key.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(raw, content, hashlib.sha256).digest()).decode()
