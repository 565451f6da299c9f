"""A look at a session, without a question to its server."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from memoryhub.common.postgres.base import is_alive


@pytest.fixture
def session(db: None) -> Iterator[psycopg.Connection]:
    info = connection.get_connection_params()
    names = ("host", "port", "dbname", "user", "password")
    with psycopg.connect(
        **{name: info[name] for name in names if info.get(name)}, autocommit=True
    ) as session:
        yield session


def end(session: psycopg.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s, 10000)", [session.info.backend_pid])
        assert cursor.fetchone() == (True,)


def test_a_session_at_rest_is_alive(session: psycopg.Connection) -> None:
    assert is_alive(session)
    assert session.execute("select 1").fetchone() == (1,)
    assert is_alive(session)


def test_a_session_that_was_told_something_is_alive(session: psycopg.Connection) -> None:
    session.execute("listen news")
    with psycopg.connect(session.info.dsn, autocommit=True) as teller:
        teller.execute("notify news, 'told'")
    assert is_alive(session)
    assert session.execute("select 1").fetchone() == (1,)


def test_a_session_that_its_server_ended_is_dead(session: psycopg.Connection) -> None:
    end(session)
    assert not is_alive(session)


def test_a_session_that_was_closed_here_is_dead(session: psycopg.Connection) -> None:
    session.close()
    assert not is_alive(session)
