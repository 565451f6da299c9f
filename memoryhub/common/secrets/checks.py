"""Tests beside a rule's pattern."""

import base64
import binascii
import re
from collections.abc import Callable

from memoryhub.common.secrets.shapes import checksum62
from memoryhub.common.secrets.values import (
    HEX,
    MARK,
    PLACEHOLDER,
    REFERENCE,
    UUID,
    is_harmless,
    is_password,
    is_random,
    is_words,
)

CHECKSUM = 6
BORING = re.compile(
    r"(?i)^(?:theme|lang|language|locale|consent|cookieconsent|_ga\w*|_gid|tz|timezone|currency|country|color|mode|a|b|foo|"
    r"name|key|path|domain|expires|max-age|samesite|version)$"
)


def crc(value: str) -> bool:
    """A right checksum proves it; without one it may be a mistyped or a made-up key, if it looks drawn at all."""
    body, sum62 = value.rpartition("_")[2][:-CHECKSUM], value[-CHECKSUM:]
    return checksum62(body) == sum62 or random(value)


def random(value: str) -> bool:
    """Behind the prefix that names its issuer stands something drawn by a machine."""
    return not PLACEHOLDER.search(value) and is_random(value)


def aws(value: str) -> bool:
    """Not one of those that the documents of AWS show."""
    return not value.endswith("EXAMPLE")


def strong(value: str) -> bool:
    """Letters in both cases, and digits: what counters, hashes and words are not."""
    return any(map(str.isupper, value)) and any(map(str.islower, value)) and random(value)


def varied(value: str) -> bool:
    return len(set(value)) > 12


def credential(value: str) -> bool:
    """What follows the scheme is no word of a sentence or of code."""
    if value.startswith("[") or REFERENCE.match(value) or is_harmless(value, "bare"):
        return False
    if UUID.match(value) or (HEX.match(value) and len(value) >= 16):
        return True
    return not is_words(value) and any(c.isdigit() or c in "+/=%~" for c in value)


def basic(value: str) -> bool:
    """A name and a password, once decoded."""
    try:
        padded = value + "=" * (-len(value) % 4)
        decoded = base64.b64decode(padded.translate(str.maketrans("-_", "+/")), validate=True)
        said = decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in said and said.isprintable()


def cookie(value: str) -> bool:
    """Some part of it tells more than a preference."""
    pairs = (
        [pair.strip().partition("=") for pair in value.split(";")] if "=" in value else [("sid", "=", value)]
    )
    return any(
        not BORING.match(name) and len(told) >= 8 and not is_words(told) and is_random(told)
        for name, _, told in pairs
    )


def password(value: str) -> bool:
    return not is_harmless(value, "quoted") and is_password(value, "quoted")


def recovery_words(value: str) -> bool:
    """A list of words and no sentence: those words are no articles and hardly repeat."""
    words = re.findall(r"[a-z]+", value.lower())
    return len(set(words)) > 0.8 * len(words) and not {
        "the",
        "and",
        "for",
        "are",
        "you",
        "with",
        "that",
    } & set(words)


def url_password(value: str) -> bool:
    """Names of variables and words for a password are no password."""
    if (
        MARK in value
        or PLACEHOLDER.search(value)
        or REFERENCE.match(value)
        or value.startswith(("{", "[", "("))
    ):
        return False
    return not value.isdigit() or len(value) > 5


CHECKS: dict[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        crc,
        aws,
        strong,
        random,
        varied,
        credential,
        basic,
        cookie,
        password,
        recovery_words,
        url_password,
    )
}
