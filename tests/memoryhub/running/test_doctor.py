from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from memoryhub.running import doctor
from memoryhub.running.doctor import Finding, examine
from memoryhub.running.files import write_private
from memoryhub.running.instance import Instance
from memoryhub.running.processes import identify


@pytest.fixture(autouse=True)
def embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)


@pytest.fixture
def instance(place: Path) -> Instance:
    made = Instance(place / "hub")
    made.make()
    return made


def found(check: str, instance: Instance, port: int = 0) -> Finding:
    return next(finding for finding in examine(instance.data_dir, port) if finding.check == check)


def test_nothing_is_wrong_before_the_first_run(place: Path) -> None:
    findings = examine(place / "not-yet", 0)
    assert {finding.check: finding.level for finding in findings} == {
        "Python": "good",
        "PostgreSQL": "good",
        "Data directory": "note",
        "Service": "note",
        "Database": "note",
    }
    assert not (place / "not-yet").exists()


def test_secrets_that_others_can_read_are_found(instance: Instance) -> None:
    instance.secrets()
    assert found("Secrets", instance).level == "good"
    instance.secrets_file.chmod(0o644)
    finding = found("Secrets", instance)
    assert (finding.level, finding.said.split(".")[0]) == ("bad", "Others can read secrets")


def test_a_port_somebody_else_uses_is_found(instance: Instance) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        finding = found("Service", instance, port)
    assert finding.level == "bad"
    assert f"port {port} cannot be used" in finding.said


def test_an_instance_that_runs_is_named(instance: Instance) -> None:
    write_private(instance.state_file, {**identify(1), "url": "http://localhost:9999"})
    assert found("Service", instance).said == "running at http://localhost:9999 (process 1)"


def test_a_full_disk_is_noted(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LOW_DISK", 1 << 60)
    assert found("Disk", instance).level == "note"


def test_an_old_python_is_found(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert found("Python", instance).said == "3.10.4 is too old: Memory Hub needs Python 3.11 or newer."


@pytest.mark.django_db
def test_the_database_is_examined_as_the_application_sees_it() -> None:
    findings = {finding.check: finding for finding in doctor._database_checks(serving=True)}
    assert {check: finding.level for check, finding in findings.items()} == {
        "Database": "good",
        "pgvector": "good",
        "Clock": "good",
        "Migrations": "good",
        "Worker": "bad",
        "Search": "note",
    }
    assert findings["Search"].said == "by words alone: no server that embeds is configured"
    assert findings["Database"].said.endswith("answers hub_app")
