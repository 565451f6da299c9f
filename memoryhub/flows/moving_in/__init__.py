"""Moving in from other systems: what a file is, is seen in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from memoryhub.common.errors import HubError, PayloadTooLarge, ValidationFailed
from memoryhub.flows.moving_in import chatgpt, graph, markdown, mem0, openmemory, zerodb
from memoryhub.flows.moving_in.statements import LARGEST, Statements, as_json, whole_text
from memoryhub.flows.opening import BROKEN, is_ours, json_lines, open_ours, open_zip
from memoryhub.flows.readings import File, LeftOut, Source, refused

MARKDOWN = (".md", ".mdc", ".markdown")
RULES = (".cursorrules", ".windsurfrules", ".clinerules")
ZIP = b"PK"
NOT_KNOWN = (
    "Is no export of Memory Hub, and no file of a system that is known: the MCP memory server's JSONL, mem0, "
    "basic-memory, ZeroDB, OpenMemory, rules such as CLAUDE.md, or ChatGPT's saved memories as text."
)


def open_source(file: IO[bytes], name: str = "", part: str = "") -> Source:
    """`name` is what the file was called, which tells Markdown and plain text apart from the rest."""
    file.seek(0)
    if file.read(2) == ZIP:
        archive = open_zip(file)
        return open_ours(archive, part) if is_ours(archive) else _from_archive(archive)
    file.seek(0)
    name = PurePosixPath(name.replace("\\", "/")).name or "file"
    return _source(_read(whole_text(file, name), name))


def _read(text: str, name: str) -> Statements:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in MARKDOWN or name.endswith(RULES):
        return _markdown({name: text})
    if suffix == ".txt":
        return chatgpt.read(text, name)
    return _json(text, name)


def _json(text: str, name: str) -> Statements:
    if (first := _first_line(text)) is not None:
        lines: Iterator[tuple[int, Any]] = json_lines(io.BytesIO(text.encode()), name)
        if graph.is_graph(first):
            return graph.read(lines, name)
        if zerodb.is_zerodb(first):
            return zerodb.read(lines, name)
    value = as_json(text, name)
    if openmemory.is_openmemory(value):
        return openmemory.read(value, name)
    if mem0.is_mem0(value):
        return mem0.read(value, name)
    rows = zerodb.rows_in(value)
    if rows and zerodb.is_zerodb(rows[0]):
        return zerodb.read(enumerate(rows, 1), name, value)
    raise refused(name, None, NOT_KNOWN)


def _first_line(text: str) -> Any:
    """The object on the first line, where there is a whole one."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        return as_json(line, "") if line.strip().startswith("{") else None
    except HubError:
        return None


def _from_archive(archive: zipfile.ZipFile) -> Source:
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    backup = next((name for name in names if PurePosixPath(name).name == openmemory.FILE), None)
    if backup:
        found = _json(_text(archive, backup), backup)
        return _source(
            found, [LeftOut(n, 1, "The memories are in memories.json.") for n in names if n != backup]
        )
    read = [name for name in names if name.lower().endswith((*MARKDOWN, *RULES))]
    if sum(archive.getinfo(name).file_size for name in read) > LARGEST:
        raise PayloadTooLarge(
            "file: Has more than 64 MiB of notes in it. Cut it into several.", limit=LARGEST
        )
    notes = {name: _text(archive, name) for name in read}
    if not notes:
        raise ValidationFailed({"file": [NOT_KNOWN]})
    return _source(_markdown(notes), [LeftOut(n, 1, "Is not Markdown.") for n in names if n not in notes])


def _text(archive: zipfile.ZipFile, name: str) -> str:
    try:
        with archive.open(name) as content:
            return whole_text(content, name)
    except BROKEN:
        raise refused(name, None, "Can't be read: the file is damaged.") from None


def _markdown(files: dict[str, str]) -> Statements:
    notes = any(markdown.is_note(text) for text in files.values())
    found = Statements(markdown.NOTES if notes else markdown.RULES, "")
    for path, text in files.items():
        (markdown.read_note if notes else markdown.read_rules)(found, path, text)
        found.path = found.path or path
    return found


def _source(found: Statements, left_out: list[LeftOut] | None = None) -> Source:
    file = File("mem", found.path, lambda: iter(found.rows))
    return Source(found.system, [file], [*found.left_out, *(left_out or [])])
