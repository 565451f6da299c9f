"""Opening our own exports: nothing of a file is believed before it has been counted and hashed.

Nothing is ever unpacked onto the disk, and memory holds a line at a time.
"""

from __future__ import annotations

import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

from memoryhub.common.errors import HubError, PayloadTooLarge, ValidationFailed
from memoryhub.common.text import parse_json
from memoryhub.flows.export import FORMAT, MANIFEST, PROSE, VERSION
from memoryhub.flows.readings import File, LeftOut, Source, refused
from spaces.domain.kinds import Row, kinds_with_files

LONGEST_LINE = 64 * 1024 * 1024
MOST_PARTS = 1_000_000
"""Lists and objects in one JSON text: each takes far more memory than its two bytes."""
MOST_BYTES = 8 * 1024**3
MOST_FILES = 2_000
MOST_ROWS = 5_000_000
DIRECTORY_BYTES = 2 * 1024 * 1024
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What Python unpacks piece by piece. Of the others a small piece becomes as much as it likes, at once."""
MANIFEST_BYTES = 1024 * 1024
PIECE = 256 * 1024
ENCRYPTED = 0x1
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,  # names that are not UTF-8 as they claim to be, and places before the file begins
)


def open_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """A ZIP without anything in it that only an attack would have."""
    try:
        with _Opening(file).watched() as watched:
            archive = zipfile.ZipFile(watched)
    except BROKEN:
        raise ValidationFailed({"file": ["Is not a whole ZIP file: it is cut off or damaged."]}) from None
    infos = archive.infolist()
    if len(infos) > MOST_FILES:
        raise PayloadTooLarge(f"file: Has more than {MOST_FILES} files in it.", limit=MOST_FILES)
    if len({info.filename for info in infos}) < len(infos):
        raise ValidationFailed({"file": ["Has two files of one name in it."]})
    for info in infos:
        _check_entry(info)
    if sum(info.file_size for info in infos) > MOST_BYTES:
        raise PayloadTooLarge("file: Would be larger than 8 GiB unpacked.", limit=MOST_BYTES)
    return archive


class _Opening:
    """The file of a ZIP. While it is opened, no more of it is read at once than a directory of MOST_FILES needs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._most = file, -1
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    @contextmanager
    def watched(self) -> Iterator[_Opening]:
        self._most = DIRECTORY_BYTES
        yield self
        self._most = -1

    def read(self, size: int = -1) -> bytes:
        if self._most < 0:
            return self._file.read(size)
        if size > self._most:
            raise zipfile.BadZipFile("its directory is too large")
        return self._file.read(size if size >= 0 else self._most)


def _check_entry(info: zipfile.ZipInfo) -> None:
    path = PurePosixPath(info.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in info.filename or ":" in info.filename:
        raise refused(info.filename, None, "Has a path that leads out of the archive.")
    if info.flag_bits & ENCRYPTED:
        raise refused(info.filename, None, "Is encrypted. Export it without a password.")
    if info.compress_type not in PACKED:
        raise refused(
            info.filename, None, "Is packed in an unusual way. Pack it with deflate, as most programs do."
        )


def is_ours(archive: zipfile.ZipFile) -> bool:
    return MANIFEST in archive.namelist()


def open_ours(archive: zipfile.ZipFile, part: str = "") -> Source:
    """The files of one space in an export. `part` is its slug, or `account`, where there are several."""
    manifest = _manifest(archive)
    described = {str(entry.get("path")): entry for entry in manifest["files"]}
    for path in described:
        if path not in archive.namelist():
            raise refused(path, None, "Is named in the manifest but is not in the file: it is not whole.")
    for path, entry in described.items():
        _check_content(archive, path, entry)
    folder = _folder(manifest, part)
    return _sorted_out(archive, described, folder)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    info = archive.getinfo(MANIFEST)
    if info.file_size > MANIFEST_BYTES:
        raise refused(MANIFEST, None, "Is too large for a manifest.")
    found = _parsed(_read(archive, MANIFEST), MANIFEST, None)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise refused(MANIFEST, None, "Is not the manifest of an export of Memory Hub.")
    version = found.get("version")
    if not isinstance(version, int) or version < 1:
        raise refused(MANIFEST, None, "Does not say which version of the format it is.")
    if version > VERSION:
        raise refused(
            MANIFEST,
            None,
            f"Was made by a newer Memory Hub (format {version}, this one reads {VERSION}). Update first.",
        )
    files, spaces = found.get("files"), found.get("spaces")
    if not _objects(files) or not _objects(spaces):
        raise refused(MANIFEST, None, "Does not list its files and spaces.")
    return found


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _read(archive: zipfile.ZipFile, path: str) -> bytes:
    try:
        with archive.open(path) as content:
            return content.read(MANIFEST_BYTES)
    except BROKEN:
        raise refused(path, None, "Can't be read: the file is damaged.") from None


def _check_content(archive: zipfile.ZipFile, path: str, entry: Row) -> None:
    digest, rows = hashlib.sha256(), 0
    try:
        with archive.open(path) as content:
            while piece := content.read(PIECE):
                digest.update(piece)
                rows += piece.count(b"\n")
                if rows > MOST_ROWS:
                    raise PayloadTooLarge(f"{path}: Has more than {MOST_ROWS} lines.", limit=MOST_ROWS)
    except BROKEN:
        raise refused(path, rows + 1, "Can't be read on: the file is damaged.") from None
    if (digest.hexdigest(), rows) != (entry.get("sha256"), entry.get("rows")):
        raise refused(path, None, "Is not what the manifest says: it was changed or is damaged.")


def _folder(manifest: Row, part: str) -> str:
    """Of a space's own export the files are in no folder."""
    folders = {str(s.get("slug")): str(s.get("folder", "")) for s in manifest["spaces"]}
    if any(str(entry.get("path", "")).startswith("account/") for entry in manifest["files"]):
        folders["account"] = "account/"
    if not part and len(folders) == 1:
        return next(iter(folders.values()))
    if part not in folders:
        names = ", ".join(sorted(folders)) or "none"
        raise ValidationFailed(
            {"from": [f"The file has several parts: say which one to take. It has {names}."]}
        )
    return folders[part]


def _sorted_out(archive: zipfile.ZipFile, described: dict[str, Row], folder: str) -> Source:
    source, kinds = Source("Memory Hub"), {kind.file: kind for kind in kinds_with_files()}
    known = {path: kinds.get(path.removeprefix(folder)) for path in described if path.startswith(folder)}
    for kind in kinds_with_files():
        path = folder + kind.file
        if kind.arrive and known.get(path):
            source.files.append(File(kind.prefix, path, partial(lines, archive, path)))
    for path, entry in described.items():
        kind_of_it = known.get(path)
        if path in known and kind_of_it is None:
            source.left_out.append(LeftOut(path, entry["rows"], "This Memory Hub does not know the kind."))
        elif kind_of_it and not kind_of_it.arrive and entry["rows"]:
            source.left_out.append(LeftOut(path, entry["rows"], "Tells what happened where it was exported."))
    for path in set(archive.namelist()) - described.keys() - {MANIFEST, PROSE}:
        source.left_out.append(LeftOut(path, 1, "Is not in the manifest."))
    return source


def lines(archive: zipfile.ZipFile, path: str) -> Iterator[tuple[int, Row]]:
    try:
        with archive.open(path) as content:
            yield from json_lines(content, path)
    except BROKEN:
        raise refused(path, None, "Can't be read on: the file is damaged.") from None


def json_lines(content: IO[bytes], path: str) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := content.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise refused(path, number, "Is longer than 64 MiB.")
        if line.strip():
            yield number, _parsed(line, path, number)


def too_many_parts(text: bytes) -> bool:
    return text.count(b"[") + text.count(b"{") > MOST_PARTS


def _parsed(line: bytes, path: str, number: int | None) -> Any:
    if too_many_parts(line):
        raise refused(path, number, f"Has more than {MOST_PARTS} lists and objects.")
    try:
        return parse_json(line)
    except HubError as fault:
        raise refused(path, number, fault.message.replace("The body", "The line", 1)) from None
