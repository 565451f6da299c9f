"""What pydantic's findings are called in our answers: where a value stands and what is wrong with it.

Only sentences from this table, or from our own validators, reach a caller: several of pydantic's own
repeat what was sent.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

SHOWN_KEY = 60
PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,59}")
WHOLE = "arguments"

WRONG_TYPE = {
    "string_type": "Must be a string.",
    "int_type": "Must be a whole number.",
    "int_parsing": "Must be a whole number.",
    "int_from_float": "Must be a whole number.",
    "float_type": "Must be a number.",
    "float_parsing": "Must be a number.",
    "decimal_type": "Must be a number.",
    "bool_type": "Must be true or false.",
    "bool_parsing": "Must be true or false.",
    "list_type": "Must be a list.",
    "tuple_type": "Must be a list.",
    "set_type": "Must be a list.",
    "frozen_set_type": "Must be a list.",
    "dict_type": "Must be an object.",
    "mapping_type": "Must be an object.",
    "model_type": "Must be an object.",
    "model_attributes_type": "Must be an object.",
    "dataclass_type": "Must be an object.",
    "date_type": "Must be a date as a string.",
    "datetime_type": "Must be a time as a string.",
    "uuid_type": "Must be an id as a string.",
    "url_type": "Must be a URL as a string.",
    "json_type": "Must be JSON text.",
    "json_invalid": "Must be valid JSON.",
    "extra_forbidden": "Is not an argument of this tool. Check its spelling or leave it out.",
    "unexpected_keyword_argument": "Is not an argument of this tool. Check its spelling or leave it out.",
    "none_required": "Must be null or absent.",
}

WRONG_VALUE = {
    "missing": "Is required. Send it.",
    "missing_argument": "Is required. Send it.",
    "string_too_short": "Must have at least {min_length} characters.",
    "string_too_long": "Must have at most {max_length} characters. Shorten it.",
    "string_pattern_mismatch": "Must match {pattern}.",
    "string_unicode": "Must be valid Unicode text.",
    "too_short": "Must have at least {min_length} items.",
    "too_long": "Must have at most {max_length} items. Send fewer.",
    "greater_than": "Must be greater than {gt}.",
    "greater_than_equal": "Must be at least {ge}.",
    "less_than": "Must be less than {lt}.",
    "less_than_equal": "Must be at most {le}.",
    "multiple_of": "Must be a multiple of {multiple_of}.",
    "finite_number": "Must be a finite number.",
    "int_parsing_size": "Is too large a number.",
    "literal_error": "Must be one of {expected}.",
    "enum": "Must be one of {expected}.",
    "uuid_parsing": "Must be a UUID.",
    "uuid_version": "Must be a UUID of version {expected_version}.",
    "date_parsing": "Must be a date like 2026-08-08.",
    "date_from_datetime_parsing": "Must be a date like 2026-08-08.",
    "date_from_datetime_inexact": "Must be a date like 2026-08-08.",
    "datetime_parsing": "Must be a time like 2026-08-08T14:30:00Z.",
    "datetime_from_date_parsing": "Must be a time like 2026-08-08T14:30:00Z.",
    "timezone_aware": "Must have an offset, like 2026-08-08T14:30:00Z.",
    "decimal_parsing": "Must be a decimal number.",
    "decimal_max_digits": "Must have at most {max_digits} digits.",
    "decimal_max_places": "Must have at most {decimal_places} decimal places.",
    "decimal_whole_digits": "Must have at most {whole_digits} digits before the decimal point.",
    "url_parsing": "Must be a valid URL.",
    "url_scheme": "Must be a URL that starts with {expected_schemes}.",
    "url_too_long": "Must have at most {max_length} characters.",
}
ANYTHING_ELSE = "Is not in a form that is accepted here."


def complaint(fault: ErrorDetails) -> str:
    kind, facts = fault["type"], fault.get("ctx", {})
    if kind in {"value_error", "assertion_error"}:
        return _own_words(facts)
    sentence = WRONG_TYPE.get(kind) or WRONG_VALUE.get(kind) or ANYTHING_ELSE
    return _singular(sentence.format_map(facts))


def is_wrong_type(kind: str) -> bool:
    return kind in WRONG_TYPE


def field_path(location: Iterable[str | int], within: str = "") -> str:
    """`("items", 2, "text")` is `items[2].text`; keys that aren't plain words are quoted, and cut."""
    path = within
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else _key_step(path, step)
    return path or WHOLE


def _key_step(path: str, key: str) -> str:
    if PLAIN_KEY.fullmatch(key):
        return f".{key}" if path else key
    shown = key if len(key) <= SHOWN_KEY else key[:SHOWN_KEY] + "…"
    return f"[{json.dumps(shown)}]"


def _own_words(facts: dict[str, Any]) -> str:
    """The sentence that our own validator raised."""
    return str(facts.get("error", "")) or ANYTHING_ELSE


def _singular(sentence: str) -> str:
    return re.sub(r"\b1 (character|item|digit|decimal place)s\b", r"1 \1", sentence)
