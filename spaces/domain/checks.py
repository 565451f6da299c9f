"""Guards on what is stored, for callers that no schema has checked."""

import json
import re
from typing import Any

from memoryhub.common.errors import PayloadTooLarge, ValidationFailed
from memoryhub.common.text import check_text, is_blank, nfc

KIB = 1024


def check_name(text: str, pattern: str, field: str) -> str:
    if not re.fullmatch(pattern, text):
        raise ValidationFailed({field: [f"Must match {pattern}."]})
    return text


def check_key(text: str, limit: int, field: str = "key") -> str:
    """The key in the form in which keys are compared."""
    check_length(text, limit, field)
    return nfc(text)


def check_length(text: str, limit: int, field: str) -> None:
    check_text(text, field)
    if len(text) > limit:
        raise ValidationFailed({field: [f"Must have at most {limit} characters. Shorten it."]})


def check_visible(text: str, field: str) -> None:
    if is_blank(text):
        raise ValidationFailed({field: ["Must have a character that can be seen."]})


def check_json(value: Any, limit: int, field: str) -> None:
    """`limit` is in bytes of compact JSON in UTF-8."""
    check_text(value, field)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > limit:
        raise PayloadTooLarge(
            f"{field}: Must be at most {limit // KIB} KiB of JSON. Keep large content elsewhere and refer to it.",
            limit=limit,
            actual=size,
        )
