"""One spelling of a JSON value, so that equal contents have equal digests.

RFC 8785, and beyond it in one point: a whole number that a double can't hold keeps all its digits, so that
two different ones never look alike. What a jsonb column gives back is spelt as what was put in.
"""

import hashlib
from decimal import Decimal
from typing import Any

import rfc8785

FIRST_WITH_EXPONENT = 10**21


def canonical_json(value: Any) -> bytes:
    """In UTF-8; keys are sorted, `1` and `1.0` are the same.

    What isn't JSON (NaN, a lone surrogate, an object of Python's) is a ValueError or TypeError.
    """
    if isinstance(value, dict):
        return b"{" + b",".join(_member(key, value[key]) for key in sorted(value, key=_key_order)) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(canonical_json(item) for item in value) + b"]"
    if isinstance(value, int) and not isinstance(value, bool):
        return _whole_number(value)
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical spelling, in hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _member(key: str, value: Any) -> bytes:
    return rfc8785.dumps(key) + b":" + canonical_json(value)


def _key_order(key: object) -> bytes:
    if not isinstance(key, str):
        raise TypeError("The keys of a JSON object are strings.")
    return key.encode("utf-16-be", "surrogatepass")


def _whole_number(number: int) -> bytes:
    if abs(number) >= FIRST_WITH_EXPONENT and _is_double(number):
        return rfc8785.dumps(float(number))
    return b"%d" % number


def _is_double(number: int) -> bool:
    try:
        return Decimal(repr(float(number))) == number
    except OverflowError:
        return False
