"""Secrets in text from outside: found, and cut, before anything else sees the text.

`cut(value)` walks a JSON value. Rules are in rules.toml; what a table of forms can't know (names of fields, prose,
keys in armour, other spellings of the same text) is in the modules beside it.
"""

from memoryhub.common.secrets.finding import Span, find
from memoryhub.common.secrets.walking import Cut, cut, cut_text, marked

__all__ = ["Cut", "Span", "cut", "cut_text", "find", "marked"]
