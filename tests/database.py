"""The test database is made as its owner and then used by the application's login."""

from django.conf import settings
from django.db import connection

from memoryhub.common.tenancy import APP_ROLE


def become_app() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO {APP_ROLE}")  # only for flushing
    connection.close()
    connection.settings_dict.update(USER=settings.DB_APP["USER"], PASSWORD=settings.DB_APP["PASSWORD"])


def become_owner() -> None:
    connection.close()
    connection.settings_dict.update(USER=settings.DB_OWNER["USER"], PASSWORD=settings.DB_OWNER["PASSWORD"])


def other_sessions() -> int:
    """How many sessions of the application there are beside this thread's own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and usename = %s and pid <> pg_backend_pid()",
            [APP_ROLE],
        )
        return int(cursor.fetchone()[0])
