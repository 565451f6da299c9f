from pathlib import Path

import pytest

from memoryhub.moving import whole_file
from memoryhub.running.errors import SetupError


def test_a_file_is_there_whole_and_only_for_its_owner_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "hub.backup"
    with whole_file(path) as target:
        target.write(b"all of it")
        assert not path.exists()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"all of it", 0o600)
    with pytest.raises(KeyError), whole_file(path) as target:
        target.write(b"half")
        raise KeyError
    assert [found.name for found in tmp_path.iterdir()] == ["hub.backup"]
    assert path.read_bytes() == b"all of it"


def test_what_lies_in_its_place_already_is_not_written_to(tmp_path: Path) -> None:
    """By its name somebody else could have made it, to read along, or to have another file overwritten."""
    other, readable = tmp_path / "other", tmp_path / ".b.zip.part"
    other.write_bytes(b"kept")
    (tmp_path / ".a.zip.part").symlink_to(other)
    readable.touch(0o666)
    for path in (tmp_path / "a.zip", tmp_path / "b.zip"):
        with whole_file(path) as target:
            target.write(b"secret")
        assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"secret", 0o600)
    assert other.read_bytes() == b"kept"


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Cannot write"), whole_file(tmp_path / "nowhere" / "a.zip"):
        pass
