"""Text that speaks to the agent that will read it instead of telling it something.

Each check gives a reason; a text with any is held until a person has looked at it. A note that quotes such a
phrase is held too, and released.
"""

import codecs
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any

import re2

from memoryhub.common.secrets.views import BLOB, UNSEEN, readable, views
from memoryhub.common.secrets.walking import strings

INSTRUCTIONS, INVISIBLE, ENCODED, TOOLS = "instructions", "invisible", "encoded", "tools"


def phrases(reason: str) -> Any:
    """All of one reason in one pass."""
    table = tomllib.loads(resources.files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8"))
    joined = "|".join(f"(?:{phrase})" for phrase in table["phrases"][reason])
    for name, part in table["parts"].items():
        joined = joined.replace(f"<{name}>", part)
    options = re2.Options()
    options.max_mem = 64 * 1024 * 1024  # so many phrases at once need room for a pass in linear time
    return re2.compile(f"(?i){joined}", options)


SPEAKING, CALLING = phrases(INSTRUCTIONS), phrases(TOOLS)

TAGS = re.compile("[\U000e0001-\U000e007f]")
FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
HIDDEN = re.compile("[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\u115f\u1160\u3164\uffa0]")
SELECTED = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
MANY_HIDDEN = 3
HEX_BLOB = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){24,}")
LONG_BLOB, VARIED = 240, 8


def reasons_to_hold(value: object) -> list[str]:
    """Why the strings of a JSON value had better be looked at by a person first; empty: nothing speaks in them."""
    found: set[str] = set()
    for text in strings(value):
        found.update(_reasons(text))
    return [reason for reason in (INSTRUCTIONS, INVISIBLE, ENCODED, TOOLS) if reason in found]


def _reasons(text: str) -> Iterator[str]:
    if len(text) < 8:
        return
    text = text if text.isascii() else text.encode("utf-8", "replace").decode()
    plain = text if text.isascii() else UNSEEN.sub("", text)
    speaks = _speaks(plain) or any(_speaks(view.text) for view in views(text))
    if speaks:
        yield INSTRUCTIONS
    if not text.isascii() and _hides(text):
        yield INVISIBLE
    if any(_speaks(said) or _is_long(said) for said in _decoded(text)) or (
        not speaks and _speaks(_turned(text))
    ):
        yield ENCODED
    if CALLING.search(plain):
        yield TOOLS


def _speaks(text: str) -> bool:
    return SPEAKING.search(text) is not None


def _hides(text: str) -> bool:
    """Joiners of emoji and of Persian words are no hiding, nor are the flags that are spelt with tags."""
    if TAGS.search(FLAG.sub("", text)) or TURNING.search(text) or SELECTED.search(text):
        return True
    return len(HIDDEN.findall(text)) >= MANY_HIDDEN


def _is_long(said: str) -> bool:
    """A text of many words, and no row of digits that happens to decode."""
    return len(said) > LONG_BLOB and " " in said and len(set(said)) >= VARIED


def _decoded(text: str) -> Iterator[str]:
    for match in BLOB.finditer(text):
        if (said := readable(match[0])) is not None:
            yield said
    for match in HEX_BLOB.finditer(text):
        digits = re.sub("[ :]", "", match[0])
        said = bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
        if said.isprintable() and "\ufffd" not in said:
            yield said


def _turned(text: str) -> str:
    """Rotated by thirteen letters, and backwards."""
    return f"{codecs.encode(text, 'rot13')}\n{text[::-1]}"
