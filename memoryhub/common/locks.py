"""Locks on what is no row."""

from django.db import connection


def lock(name: str) -> None:
    """Until the transaction ends, whoever else locks this name waits."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
