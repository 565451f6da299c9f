"""Markdown as other systems keep it: basic-memory's notes, and rules for coding agents (CLAUDE.md and the like)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from memoryhub.flows.moving_in.statements import Statements
from spaces.domain.memories.fields import PATH
from spaces.models.memories import KINDS

NOTES, RULES = "basic-memory", "agent rules"
FENCE = "---"
ENTRY = re.compile(r"([A-Za-z_][\w .-]*):\s*(.*)")
OBSERVATION = re.compile(r"\s*[-*] \[(?P<category>[^\[\]()]{2,})\] (?P<said>.+)")
RELATION = re.compile(r"\s*[-*] (?P<relation>[^\[\]]*?)\s*\[\[(?P<to>[^\[\]]+)\]\](?P<rest>.*)")
TAG = re.compile(r"(?<!\S)#([\w/-]+)")
HEADING = re.compile(r"#{1,6} +(.+?) *#*")
BULLET = re.compile(r"(?:[-*+]|\d+[.)]) +\S")
CODE = ("```", "~~~")
FOLLOWED = re.compile(r"\s*(?:[-*+] )?@(?:\.{0,2}/|~/|[\w-]+/)?[\w./-]+\.\w+\s*")
BY_CATEGORY = {kind: kind for kind in KINDS if kind != "fact"} | {"todo": "handoff"}


@dataclass
class Block:
    """Lines that belong together, below a heading."""

    line: int
    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def front_matter(text: str) -> tuple[dict[str, Any], list[str], int]:
    """(entries, the other lines, the number of the first of them). Only texts and lists of texts are read."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != FENCE or FENCE not in [line.strip() for line in lines[1:]]:
        return {}, lines, 1
    end = [line.strip() for line in lines].index(FENCE, 1)
    entries: dict[str, Any] = {}
    name = ""
    for line in lines[1:end]:
        if entry := ENTRY.fullmatch(line):
            name = entry[1].strip()
            entries[name] = _value(entry[2].strip())
        elif name and line.strip().startswith("- "):
            former = entries[name] if isinstance(entries[name], list) else []
            entries[name] = [*former, _bare(line.strip()[2:])]
        elif line.strip():
            entries.setdefault("other", []).append(line.strip())
    return entries, lines[end + 1 :], end + 2


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_bare(part) for part in text[1:-1].split(",") if part.strip()]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def is_note(text: str) -> bool:
    entries, lines, _ = front_matter(text)
    said = any(OBSERVATION.fullmatch(line) for line in lines)
    return bool({"title", "permalink"} & entries.keys()) or said


def read_note(found: Statements, path: str, text: str) -> None:
    """A memory for each observation and relation, and one for what else the note says."""
    entries, lines, first = front_matter(text)
    title = str(entries.get("title") or PurePosixPath(path).stem)
    permalink = str(entries.get("permalink") or PurePosixPath(path).with_suffix(""))
    tags = entries.get("tags", [])
    note: dict[str, Any] = {
        "subject": title,
        "source_ref": path[:500],
        "path": permalink if PATH.fullmatch(permalink) and len(permalink) <= 255 else "",
        "created_at": entries.get("created") or entries.get("date"),
    }
    more = {n: v for n, v in entries.items() if n not in ("title", "tags", "permalink", "created", "date")}
    of_note = tags if isinstance(tags, list) else [tag for tag in str(tags).replace(",", " ").split() if tag]
    body = Block(first, "")
    for number, line in enumerate(lines, first):
        if observed := OBSERVATION.fullmatch(line):
            said, category = observed["said"].strip(), observed["category"].strip()
            labels = [*of_note, *TAG.findall(said)]
            kind = BY_CATEGORY.get(category.lower(), "fact")
            found.add(number, f"{path}:{said}", said, tags=labels, topics=[category], kind=kind, **note)
        elif related := RELATION.fullmatch(line):
            relation, to = related["relation"].strip() or "relates to", related["to"].strip()
            said = f"{title} {relation.replace('_', ' ')} {to}{related['rest'].rstrip()}"
            link = {"relation": relation, "to": to}
            found.add(number, f"{path}:{said}", said, tags=of_note, links=[link], **note)
        else:
            body.lines.append(line)
    if rest := _beside_headings(body, title):
        found.add(first, path, rest, tags=of_note, kind="note", metadata=more, **note)
    elif more:
        found.add(first, path, title, tags=of_note, kind="note", metadata=more, **note)


def _beside_headings(body: Block, title: str) -> str:
    """What a note says besides headings under which nothing is left."""
    kept: list[str] = []
    waiting: list[str] = []
    for line in body.lines:
        heading = HEADING.fullmatch(line.strip())
        if heading:
            waiting = [] if heading[1] == title else [line]
        elif line.strip():
            kept += [*waiting, line]
            waiting = []
        elif kept:
            kept.append(line)
    return "\n".join(kept).strip()


def read_rules(found: Statements, path: str, text: str) -> None:
    """A memory for each rule: a bullet with what hangs on it, or a paragraph. Its heading is the subject."""
    entries, lines, first = front_matter(text)
    tags = [str(v) for v in entries.get("tags", [])] if isinstance(entries.get("tags"), list) else []
    for block in blocks(lines, first):
        if FOLLOWED.fullmatch(block.text):
            found.leave(f"imports of other files ({path})", "Import those files too.")
            continue
        said = re.sub(r"^(?:[-*+]|\d+[.)]) +", "", block.text)
        more = {name: value for name, value in entries.items() if name != "tags"}
        found.add(
            block.line,
            f"{path}:{block.heading}:{said}",
            said,
            subject=block.heading,
            tags=tags,
            kind="preference",
            origin="user",
            source_ref=f"{path[:480]}:{block.line}",
            metadata=more,
        )


def blocks(lines: list[str], first: int) -> Iterator[Block]:
    heading, block, fenced = "", Block(first, ""), False
    for number, line in enumerate(lines, first):
        bare = line.strip()
        if bare.startswith(CODE):
            fenced = not fenced
        title = None if fenced else HEADING.fullmatch(bare)
        starts = not fenced and (not bare or BULLET.match(line) is not None)
        if title or (starts and not bare.startswith(CODE)):
            if block.text:
                yield block
            heading = title[1] if title else heading
            block = Block(number, heading, [] if title else [line])
        else:
            block.lines.append(line)
    if block.text:
        yield block
