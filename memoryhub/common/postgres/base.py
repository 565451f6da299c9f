"""Django's PostgreSQL, with what it lacks here.

A session that ended while it lay in the pool (a restart, an administrator) is never handed out.

The pool's own check asks the server each time, and waits longer and longer between dead sessions. A dead one is
seen without a question: its socket has something to read.
"""

import select
from typing import Any

from django.db.backends.postgresql import base, operations
from psycopg import Connection, OperationalError


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> Any:
        """The driver doesn't tell what the server keeps: then it is the statement as it was written."""
        return super().last_executed_query(cursor, sql, params) or sql


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection[Any]:
        while True:
            connection: Connection[Any] = super().get_new_connection(conn_params)
            if self.pool is None or is_alive(connection):
                return connection
            self.pool.putconn(connection)  # which drops it and opens another

    def remembering_cursor(self) -> Any:
        """For the few statements that are sent all the time: after some calls a session keeps each with its plan,
        which takes as long to make as to carry out. No more than another cursor where that is turned off, as it has
        to be behind a pooler that gives each transaction another session."""
        self.ensure_connection()
        with self.wrap_database_errors:
            return self._prepare_cursor(base.ServerBindingCursor(self.connection))  # type: ignore[attr-defined,call-arg]


def is_alive(connection: Connection[Any]) -> bool:
    """Reads what the server sent unasked: notices are harmless, behind a farewell comes the end."""
    try:
        while has_something_to_read(connection.fileno()):
            connection.pgconn.consume_input()
    except OperationalError:
        return False
    return True


def has_something_to_read(descriptor: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))
