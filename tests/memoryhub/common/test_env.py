import sys
from pathlib import Path

import pytest

from memoryhub.common.env import BadEnvironment, envbool, envint, envlist, envredis, envsecret, envstr

NAME = "HUB_TEST_VARIABLE"


def test_an_absent_variable_is_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    found = (
        envstr(NAME, "a"),
        envbool(NAME, True),
        envint(NAME, 7),
        envlist(NAME, ["x"]),
        envsecret(NAME, "s"),
    )
    assert found == ("a", True, 7, ["x"], "s")


def test_an_empty_variable_is_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "")
    found = (
        envstr(NAME, "a"),
        envbool(NAME, True),
        envint(NAME, 7),
        envlist(NAME, ["x"]),
        envsecret(NAME, "s"),
    )
    assert found == ("a", True, 7, ["x"], "s")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", True),
        ("true", True),
        (" Yes ", True),
        ("ON", True),
        ("0", False),
        ("False", False),
        ("off", False),
    ],
)
def test_a_flag_is_read_in_the_usual_words(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv(NAME, text)
    assert envbool(NAME, not value) is value


@pytest.mark.parametrize("read", [envbool, envint])
def test_an_unreadable_value_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, read: object
) -> None:
    monkeypatch.setenv(NAME, "hunter2")
    with pytest.raises(BadEnvironment) as refusal:
        read(NAME)  # type: ignore[operator]
    assert NAME in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_a_list_is_split_at_commas_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " a, b ,,c ")
    assert envlist(NAME) == ["a", "b", "c"]


def test_a_secret_is_read_from_the_file_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text(" keep the spaces \n")
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.setenv(f"{NAME}_FILE", str(file))
    assert envsecret(NAME, "default") == " keep the spaces "


def test_a_secret_in_the_variable_itself_wins_over_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(NAME, "direct")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "absent"))
    assert envsecret(NAME) == "direct"


def test_a_secret_file_that_cannot_be_read_is_a_fault_and_not_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "absent"))
    with pytest.raises(BadEnvironment, match=f"{NAME}_FILE"):
        envsecret(NAME, "default")


@pytest.mark.parametrize(
    "address", ["redis://cache:6379/0", "rediss://cache:6379/0", "unix:///run/redis.sock"]
)
def test_a_redis_without_the_packages_for_it_says_how_they_are_installed(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(NAME, address)
    assert envredis(NAME) == address
    monkeypatch.setitem(sys.modules, "redis", None)  # as where it is not installed
    with pytest.raises(BadEnvironment, match=rf"{NAME} names a Redis.* pip install '\.\[redis\]'"):
        envredis(NAME)


def test_another_broker_needs_no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.setenv(NAME, "amqp://broker/")
    assert envredis(NAME, "memory://") == "amqp://broker/"
    monkeypatch.delenv(NAME)
    assert envredis(NAME, "memory://") == "memory://"
