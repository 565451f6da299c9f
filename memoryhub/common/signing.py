"""Signatures that hold outside the database: Ed25519, with the key from the environment."""

import base64
import binascii
import hashlib
import secrets

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from memoryhub.common.errors import Unavailable

KEY_BYTES = 32


class SigningFault(Unavailable):
    """A key is missing or unreadable. Says no value."""


def new_signing_key() -> str:
    return _encode(secrets.token_bytes(KEY_BYTES))


def sign(message: bytes, key: str) -> bytes:
    return _private(key).sign(message)


def public_key(key: str) -> str:
    """What the other side needs to verify; safe to hand to anybody."""
    return _encode(_private(key).public_key().public_bytes_raw())


def key_id(public: str) -> str:
    """Names a public key beside a signature."""
    return hashlib.sha256(_decode(public)).hexdigest()[:16]


def is_signed(message: bytes, signature: bytes, public: str) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(_decode(public)).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _private(key: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(_decode(key))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """A key of either kind has 32 bytes."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise SigningFault("A key for signing must be 32 bytes in URL-safe base64.")
    return raw
