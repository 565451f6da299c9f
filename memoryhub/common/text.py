"""Text from outside: what is refused, and the forms in which texts are compared."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NoReturn

from memoryhub.common.complaints import field_path
from memoryhub.common.errors import InvalidRequest, ValidationFailed

MAX_DEPTH = 64
MAX_BODY_DEPTH = MAX_DEPTH + 16  # A value stands some levels down in its request.

NUL = "Must not contain the NUL character. Remove it."
NUL_IN_KEY = "This key must not contain the NUL character. Rename it."
LONE = "Must not contain half of a surrogate pair. Send valid Unicode."
LONE_IN_KEY = "This key must not contain half of a surrogate pair. Send valid Unicode."
NOT_FINITE = "Must be a finite number."
TOO_DEEP = f"Must not be nested more than {MAX_DEPTH} levels deep. Flatten it."

ENDING = ".,;:!?。、؟،؛۔।॥။។።‽"
ELLIPSIS = "…"
JOINER = "\u200d"
# Letters, symbols and marks that show nothing: fillers, the empty braille cell, joiners of marks.
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
SELECTORS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
SKIN_TONES = range(0x1F3FB, 0x1F400)
TAGS = range(0xE0020, 0xE0080)
FLAG_LETTERS = range(0x1F1E6, 0x1F200)

Location = tuple[str | int, ...]


def check_text(value: Any, path: str = "") -> None:
    """Refuses, in a JSON value and its keys, what can't be stored: `ValidationFailed` naming the field."""
    for location, fault in _faults(value, (), 1):
        raise ValidationFailed({field_path(location, within=path): [fault]})


def parse_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8. Of a repeated key the last one holds.

    `InvalidRequest` for what isn't JSON, NaN included, for numbers beyond a double and for nesting that no
    request needs. NUL and lone surrogates are left to `check_text`.
    """
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text)
    except UnicodeDecodeError:
        raise InvalidRequest("The body is not valid UTF-8. Send JSON in UTF-8.") from None
    except json.JSONDecodeError as fault:
        raise InvalidRequest(
            f"The body is not valid JSON at line {fault.lineno}, column {fault.colno}. Correct it."
        ) from None
    except RecursionError:
        _refuse_nesting()
    except ValueError:
        raise InvalidRequest("The body has a number with too many digits. Send it as a string.") from None
    _check_body(text, value)
    return value


def nfc(text: str) -> str:
    """The form in which identities (keys, tags, topics, subjects, namespaces) are compared."""
    return unicodedata.normalize("NFC", text)


def fold_statement(text: str) -> str:
    """The form that identical memories share: NFKC, casefold, white space collapsed, no closing punctuation.

    Only marks that end a sentence count: `C++`, `C#` and `80%` keep theirs. A text of nothing else keeps it.
    """
    folded = text
    while (once := _fold_once(folded)) != folded:
        folded = once
    return folded


def is_blank(text: str) -> bool:
    """Nothing in it can be seen."""
    return all(_is_invisible(character) for character in text)


def text_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def excerpt(text: str, size: int) -> str:
    """At most `size` characters, ending in an ellipsis if there were more; emoji and accents stay whole."""
    if len(text) <= size:
        return text
    end = max(size - len(ELLIPSIS), 0)
    while end > 0 and not _may_cut(text, end):
        end -= 1
    return text[:end].rstrip() + ELLIPSIS


def _faults(value: Any, location: Location, depth: int) -> Iterator[tuple[Location, str]]:
    if isinstance(value, str):
        if fault := _text_fault(value, NUL, LONE):
            yield location, fault
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield location, NOT_FINITE
    elif isinstance(value, dict | list | tuple):
        if depth > MAX_DEPTH:
            yield location[:3], TOO_DEEP
        else:
            yield from _faults_inside(value, location, depth + 1)


def _faults_inside(
    value: dict[str, Any] | list[Any] | tuple[Any, ...], location: Location, depth: int
) -> Iterator[tuple[Location, str]]:
    if not isinstance(value, dict):
        for index, item in enumerate(value):
            yield from _faults(item, (*location, index), depth)
        return
    for key, item in value.items():
        if fault := _text_fault(key, NUL_IN_KEY, LONE_IN_KEY):
            yield (*location, key), fault
        yield from _faults(item, (*location, key), depth)


def _text_fault(text: str, nul: str, lone: str) -> str | None:
    if "\0" in text:
        return nul
    return lone if not text.isascii() and _has_lone_surrogate(text) else None


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _check_body(text: str, value: Any) -> None:
    if text.count("[") + text.count("{") > MAX_BODY_DEPTH and _is_deeper_than(value, MAX_BODY_DEPTH):
        _refuse_nesting()
    for location, fault in _faults(value, (), 1):
        if fault == NOT_FINITE:
            raise InvalidRequest(f"{field_path(location)}: {NOT_FINITE}")


def _is_deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [child for parent in layer for child in _children(parent)]
    return any(isinstance(node, dict | list) for node in layer)


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_nesting() -> NoReturn:
    raise InvalidRequest(f"The body is nested more than {MAX_BODY_DEPTH} levels deep. Flatten it.") from None


def _fold_once(text: str) -> str:
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = " ".join(plain.split())
    return words.rstrip(ENDING + " ") or words


def _is_invisible(character: str) -> bool:
    return (
        character.isspace()
        or unicodedata.category(character) in INVISIBLE_CATEGORIES
        or character in INVISIBLE
        or SELECTORS.match(character) is not None
    )


def _may_cut(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if before == JOINER or _continues(after):
        return False
    return not (ord(after) in FLAG_LETTERS and _flag_letters_before(text, index) % 2)


def _continues(character: str) -> bool:
    """It belongs to the character before it."""
    return (
        character == JOINER
        or unicodedata.category(character).startswith("M")
        or ord(character) in SKIN_TONES
        or ord(character) in TAGS
    )


def _flag_letters_before(text: str, index: int) -> int:
    return len(list(takewhile(lambda letter: ord(letter) in FLAG_LETTERS, reversed(text[:index]))))
