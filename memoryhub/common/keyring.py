"""What has to be kept secret at rest: AES-256-GCM under keys from the environment.

A sealed text is `v1.kid.nonce.ct`. Which row and column it belongs to is authenticated with it: moved to another
row it doesn't open. Without a keyring, or under a key that isn't on it, nothing is sealed and nothing opens.
"""

import base64
import binascii
import re
import secrets
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from memoryhub.common.errors import Unavailable

VERSION = "v1"
KEY_BYTES, NONCE_BYTES = 32, 12
KID = re.compile(r"[a-z0-9]{1,16}")


class KeyringFault(Unavailable):
    """The keyring is missing or unreadable, or what was sealed doesn't open with it. Says no value."""


@dataclass(frozen=True)
class Keyring:
    """By its id each key; new texts are sealed under the first."""

    keys: dict[str, bytes]

    @property
    def first(self) -> str:
        return next(iter(self.keys))


def read_keyring(text: str) -> Keyring:
    """From `kid:key,kid:key…`, each key 32 bytes in URL-safe base64."""
    keys: dict[str, bytes] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        kid, _, encoded = entry.partition(":")
        if not KID.fullmatch(kid) or kid in keys:
            raise KeyringFault("KEYRING has a key without an id of its own, of the characters a-z 0-9.")
        keys[kid] = _key(kid, encoded)
    if not keys:
        raise KeyringFault(
            "KEYRING is not set: secrets can't be kept. Make one with `memoryhub keyring new`."
        )
    return Keyring(keys)


def new_entry() -> str:
    """A fresh key with its id, to be put first on a keyring."""
    return f"{secrets.token_hex(4)}:{_encode(secrets.token_bytes(KEY_BYTES))}"


def row_of(table: str, account_id: UUID, id: UUID, column: str) -> str:
    """What a sealed text is bound to."""
    return f"{table}/{account_id}/{id}/{column}"


def seal(text: str, *, row: str) -> str:
    ring = read_keyring(settings.KEYRING)
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(ring.keys[ring.first]).encrypt(nonce, text.encode(), _bound(ring.first, row))
    return ".".join((VERSION, ring.first, _encode(nonce), _encode(sealed)))


def unseal(sealed: str, *, row: str) -> str:
    kid, nonce, ciphertext = _parts(sealed)
    key = read_keyring(settings.KEYRING).keys.get(kid)
    if key is None:
        raise KeyringFault(f"KEYRING lacks the key {kid}. Put it back to read what it sealed.")
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, _bound(kid, row)).decode()
    except (InvalidTag, ValueError):
        raise KeyringFault(
            "A sealed value doesn't open: it was altered, or belongs to another row."
        ) from None


def is_current(sealed: str) -> bool:
    """Whether it is under the key that new texts are sealed under."""
    return _parts(sealed)[0] == read_keyring(settings.KEYRING).first


def _bound(kid: str, row: str) -> bytes:
    return f"{VERSION}.{kid}.{row}".encode()


def _parts(sealed: str) -> tuple[str, bytes, bytes]:
    match sealed.split("."):
        case [version, kid, nonce, ciphertext] if version == VERSION and KID.fullmatch(kid):
            return kid, _decode(nonce), _decode(ciphertext)
    raise KeyringFault("A sealed value is in no form that is known here.")


def _key(kid: str, encoded: str) -> bytes:
    key = _decode(encoded)
    if len(key) != KEY_BYTES:
        raise KeyringFault(f"The key {kid} on KEYRING must be {KEY_BYTES} bytes in URL-safe base64.")
    return key


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise KeyringFault("A key or sealed value is not in URL-safe base64.") from None
