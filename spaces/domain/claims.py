"""What a text claims of its own writer. It is dropped: the writer is known by the credential."""

import json
import re
from dataclasses import dataclass
from typing import Any

CLAIMS = frozenset({"owner", "account", "agent", "device", "writer", "scope", "scopes"})
SUFFIXES = re.compile(r"_(?:id|ids|name|label|instance|instance_id)$")
FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M
)
FIELD = re.compile(r"""(?P<quote>["']?)(?P<name>[^\s"':#][^"':]*?)(?P=quote)\s*:(?:\s|$)""")


@dataclass(frozen=True)
class Sanitized:
    """`dropped` names the fields that were taken out, as they were written."""

    text: str
    dropped: list[str]


def sanitize(text: str) -> Sanitized:
    """Without the identity fields of its front matter, or of its top level if it is a JSON object."""
    if match := FRONT_MATTER.match(text):
        return _without_lines(text, match)
    if text.lstrip().startswith("{"):
        return _without_members(text)
    return Sanitized(text, [])


def is_claim(name: str) -> bool:
    plain = re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())).lower()
    return plain in CLAIMS or SUFFIXES.sub("", plain) in CLAIMS


def _without_lines(text: str, match: re.Match[str]) -> Sanitized:
    """A field goes with the lines that are indented below it, or listed."""
    kept: list[str] = []
    dropped: list[str] = []
    dropping = False
    for line in match["fields"].splitlines(keepends=True):
        if field := FIELD.match(line):
            dropping = is_claim(field["name"])
            dropped += [field["name"]] if dropping else []
        elif line[:1] not in (" ", "\t", "-", "]", "}"):
            dropping = False
        kept += [] if dropping else [line]
    if not dropped:
        return Sanitized(text, [])
    start, end = match.span("fields")
    rest = text[match.end() :]
    return Sanitized(
        f"{text[:start]}{''.join(kept)}{text[end:]}" if any(map(str.strip, kept)) else rest, dropped
    )


def _without_members(text: str) -> Sanitized:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Sanitized(text, [])
    dropped = [name for name in value if is_claim(name)] if isinstance(value, dict) else []
    if not dropped:
        return Sanitized(text, [])
    kept = {name: item for name, item in value.items() if name not in dropped}
    indent = 2 if "\n" in text.strip() else None
    return Sanitized(json.dumps(kept, ensure_ascii=False, indent=indent) if kept else "", dropped)
