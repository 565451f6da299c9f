"""What was remembered as Markdown, for people: one paragraph for each row of an export."""

import json
import re
from functools import reduce
from typing import Any

from memoryhub.common.odd import visible
from memoryhub.common.text import ELLIPSIS, ENDING
from spaces.domain.kinds import Row

NAMES = ("kind", "date", "collection", "namespace", "key", "title", "type", "subject", "item")
BODIES = ("text", "summary", "content", "value", "data")
LISTS = ("decisions", "open_loops", "tags", "topics")
MARKUP = re.compile(r"([\\`*_\[\]<>#|~])")
HIDDEN = ("superseded", "resolved", "quarantined")
SENTENCE_ENDS = ENDING + ELLIPSIS
NOT_PROSE = frozenset({"evt"})


def paragraph(row: Row) -> str:
    """ "" for what says nothing any more. Nothing in it is markup, a link or a picture."""
    if row.get("status") in HIDDEN:
        return ""
    head = " · ".join(_plain(row[name]) for name in NAMES if row.get(name))
    body = next((_plain(row[name]) for name in BODIES if row.get(name) not in (None, "", {}, [])), "")
    lists = [f"{name.replace('_', ' ')}: {_plain(row[name])}" for name in LISTS if row.get(name)]
    told = reduce(_after, [part for part in (body, *lists) if part], "")
    return f"* **{head}**: {told}\n" if head else f"* {told}\n"


def _after(told: str, part: str) -> str:
    """The next sentence, whether or not the one before ends as one."""
    between = "" if not told else " " if told[-1] in SENTENCE_ENDS else ". "
    return f"{told}{between}{part}"


def headline(row: Row) -> str:
    """What a row is and how it begins, as plain text."""
    said = [row[name] for name in NAMES if row.get(name)]
    body = next((row[name] for name in BODIES if row.get(name) not in (None, "", {}, [])), "")
    return " · ".join(part if isinstance(part, str) else _json(part) for part in [*said, body] if part != "")


def heading(file: str) -> str:
    return f"\n## {file.removesuffix('.jsonl').capitalize()}\n\n"


def _plain(value: Any) -> str:
    if isinstance(value, list):
        text = ", ".join(item if isinstance(item, str) else _json(item) for item in value)
    else:
        text = value if isinstance(value, str) else _json(value)
    lines = [MARKUP.sub(r"\\\1", visible(line).strip()) for line in text.splitlines()]
    return "\n  ".join(line for line in lines if line)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
