"""Values in the shape of secrets, drawn when they are needed: none stands in a file.

`expand("token ghp_{base62:36}", random)` fills in each `{alphabet:length}`.
"""

import base64
import json
import re
import string
import uuid
import zlib
from collections.abc import Callable
from random import Random

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
WORDS = tuple(
    word
    for word in [
        "abandon",
        "ability",
        "absent",
        "absorb",
        "abstract",
        "absurd",
        "access",
        "accident",
        "account",
        "accuse",
        "achieve",
        "acid",
        "acoustic",
        "acquire",
        "across",
        "actor",
        "actress",
        "adapt",
        "addict",
        "adjust",
        "admit",
        "adult",
        "advance",
        "advice",
        "aerobic",
        "affair",
    ]
)
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digits": string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "letters": string.ascii_letters,
    "base62": BASE62,
    "base64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "aws": string.ascii_uppercase + "234567",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech32": BECH32.upper(),
    "bech32low": BECH32,
}
SHAPE = re.compile(r"\{(\w+)(?::(\d+))?\}")


def expand(template: str, random: Random) -> str:
    def drawn(shape: re.Match[str]) -> str:
        name, length = shape[1], int(shape[2] or 0)
        if name in ALPHABETS and length:
            return draw(name, length, random)
        return MADE[name](length, random) if name in MADE else shape[0]

    return SHAPE.sub(drawn, template)


def draw(alphabet: str, length: int, random: Random) -> str:
    """Begins and ends with a letter or digit, as a word does; long ones have a digit in them."""
    letters = ALPHABETS[alphabet]
    plain = [c for c in letters if c.isalnum()]
    text = [random.choice(letters) for _ in range(length)]
    text[0], text[-1] = random.choice(plain), random.choice(plain)
    if length > 7 and "7" in letters and not any(c.isdigit() for c in text):
        text[length // 2] = "7"
    return "".join(text)


def checksum62(body: str) -> str:
    """Six characters: the CRC32 of the body in base 62."""
    rest, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = BASE62[digit] + digits
    return digits


def _crc(length: int, random: Random) -> str:
    body = draw("base62", length, random)
    return body + checksum62(body)


def _jwt(length: int, random: Random) -> str:
    """Without the `eyJ` that each begins with."""
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": draw("digits", 10, random), "iat": 1_790_000_000}]
    told = ".".join(
        base64.urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")
        for part in parts
    )
    return f"{told}.{draw('url', 43, random)}".removeprefix("eyJ")


def _basic(length: int, random: Random) -> str:
    return base64.b64encode(f"deploy:{draw('base62', 14, random)}".encode()).decode()


def _words(length: int, random: Random) -> str:
    return " ".join(random.sample(WORDS, 12))


def _uuid(length: int, random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


MADE: dict[str, Callable[[int, Random], str]] = {
    "crc": _crc,
    "jwt": _jwt,
    "basic": _basic,
    "uuid": _uuid,
    "words": _words,
}
