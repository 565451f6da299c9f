from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from memoryhub.running import identity
from memoryhub.running.errors import SetupError
from memoryhub.running.identity import clean_environment, database_identity

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends identities")


@root_only
def test_root_lends_the_first_candidate_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "CANDIDATES", ("nobody-of-that-name", "daemon", "nobody"))
    lent = database_identity(tmp_path / "none")
    assert (lent.name, lent.borrowed) == ("daemon", True)


@root_only
def test_data_keeps_its_owner_whatever_the_candidates(tmp_path: Path) -> None:
    os.chown(tmp_path, pwd.getpwnam("daemon").pw_uid, -1)
    assert database_identity(tmp_path).name == "daemon"


@root_only
def test_root_without_any_candidate_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "CANDIDATES", ())
    with pytest.raises(SetupError, match="useradd --system memoryhub"):
        database_identity(tmp_path / "none")


@root_only
def test_a_user_without_a_name_is_told_what_to_do(tmp_path: Path) -> None:
    os.chown(tmp_path, 54321, -1)
    with pytest.raises(SetupError, match="54321 has no name on this system"):
        database_identity(tmp_path)


def test_what_the_server_is_started_with_cannot_be_bent_from_outside() -> None:
    given = {
        "PATH": "/bin",
        "PGOPTIONS": "-c fsync=off",
        "LC_MESSAGES": "ja_JP",
        "LANGUAGE": "ja",
        "TZ": "Asia/Tokyo",
    }
    assert clean_environment(given) == {"PATH": "/bin", "LC_ALL": "C", "TZ": "UTC"}
