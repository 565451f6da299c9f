from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memoryhub.common.keyring import read_keyring
from memoryhub.running.errors import SetupError
from memoryhub.running.files import write_private
from memoryhub.running.instance import Instance, find_data_dir, open_instance


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "DATABASE_URL",
        "DATABASE_OWNER_URL",
        "DATABASE_PREPARED_STATEMENTS",
        "PUBLIC_URL",
        "MEMORYHUB_DATA_DIR",
        "SECRET_KEY",
        "KEY_PEPPER",
        "KEYRING",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    made = Instance(tmp_path / "hub")
    made.make()
    return made


def test_the_data_directory_is_the_option_then_the_variable_then_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    default = find_data_dir(None)
    assert default == Path("/var/lib/memoryhub") if os.geteuid() == 0 else default.name == "memoryhub"
    monkeypatch.setenv("MEMORYHUB_DATA_DIR", str(tmp_path))
    assert find_data_dir(None) == tmp_path
    assert find_data_dir(tmp_path / "other") == tmp_path / "other"


def test_secrets_are_made_once_and_for_the_owner_alone(instance: Instance) -> None:
    first = instance.secrets()
    assert first == instance.secrets()
    assert set(first) == {"SECRET_KEY", "KEY_PEPPER", "KEYRING", "AUDIT_KEY"}
    assert first["SECRET_KEY"] != first["KEY_PEPPER"]
    assert instance.secrets_file.stat().st_mode & 0o777 == 0o600


def test_an_instance_from_before_there_was_a_keyring_gets_one(instance: Instance) -> None:
    write_private(instance.secrets_file, {"SECRET_KEY": "s", "KEY_PEPPER": "p"})
    kept = instance.secrets()
    assert (kept["SECRET_KEY"], kept["KEY_PEPPER"]) == ("s", "p")
    assert len(read_keyring(kept["KEYRING"]).keys) == 1


def test_a_key_that_is_added_stands_first_and_the_others_stay(instance: Instance) -> None:
    before = read_keyring(instance.secrets()["KEYRING"])
    kid = instance.add_key()
    after = read_keyring(instance.secrets()["KEYRING"])
    assert (after.first, {**after.keys, **before.keys}) == (kid, after.keys)
    assert len(after.keys) == 2


def test_a_program_of_the_instance_needs_nothing_but_its_environment(instance: Instance) -> None:
    assert set(instance.environment({})) == {
        "DJANGO_SETTINGS_MODULE",
        "MEMORYHUB_DATA_DIR",
        "CELERY_BROKER_URL",
        "PUBLIC_URL",
        "STATIC_ROOT",
        "AUDIT_DIR",
        "AUDIT_KEY",
        "RATE_LIMIT_REQUESTS",
        "RATE_LIMIT_WRITES",
        "SPACE_MEMORIES",
        "SPACE_RECORDS",
        "SPACE_VALUES",
        "EMBEDDER_SOCKET",
        "EMBEDDING_URL",
        "SECRET_KEY",
        "KEY_PEPPER",
        "KEYRING",
        "DATABASE_URL",
        "DATABASE_OWNER_URL",
        "DATABASE_PREPARED_STATEMENTS",
    }


def test_what_the_environment_has_is_kept(instance: Instance) -> None:
    given = {"CELERY_BROKER_URL": "redis://there", "SECRET_KEY_FILE": "/run/secrets/key"}
    added = instance.environment(given)
    assert not {"CELERY_BROKER_URL", "SECRET_KEY", "SECRET_KEY_FILE"} & set(added)
    assert "KEY_PEPPER" in added


def test_a_database_named_by_the_environment_takes_the_place_of_the_embedded_one(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert instance.embedded is not None
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/hub")
    assert instance.embedded is None
    assert "DATABASE_OWNER_URL" not in instance.environment(os.environ)


def test_the_address_is_the_running_one_else_the_first_one_else_the_default(instance: Instance) -> None:
    assert instance.public_url == "http://localhost:8765"
    write_private(instance.first_run_file, {"url": "http://localhost:1111"})
    assert instance.public_url == "http://localhost:1111"
    write_private(instance.state_file, {"url": "http://localhost:2222"})
    assert instance.public_url == "http://localhost:2222"


def test_a_private_file_replaces_another_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text("{}")
    write_private(path, {"a": 1})
    assert json.loads(path.read_text()) == {"a": 1}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


def test_a_command_before_the_first_run_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no Memory Hub in .*hub yet"):
        with open_instance(tmp_path / "hub"):
            pass


def test_a_data_directory_that_cannot_be_made_is_refused_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"Not a directory\. Choose another"):
        Instance(tmp_path / "file" / "hub").make()
