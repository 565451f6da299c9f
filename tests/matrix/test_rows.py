"""Row-level security alone: SQL without any of our filters sees, makes, changes and removes nothing of another team.

A new table of a team's rows fails until the two teams of these tests have a row in it.
"""

from contextlib import suppress

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction

from accounts.models import Tenant
from memoryhub.common.tenancy import tenant
from tests.matrix.world import World, undone

pytestmark = pytest.mark.django_db

TABLES = sorted(m._meta.db_table for m in apps.get_models() if issubclass(m, Tenant))
EVERY = pytest.mark.parametrize("table", TABLES)


def sql(statement: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]


def test_these_tests_run_as_the_application(world: World) -> None:
    assert sql("select current_user, session_user") == [("hub_app", "hub_app")]


@EVERY
def test_a_team_sees_its_own_rows_and_no_other(world: World, table: str) -> None:
    for team in (world.ours, world.theirs):
        with tenant(team.account.id):
            assert sql(f"select distinct account_id from {table}") == [(team.account.id,)]


@EVERY
def test_without_a_team_there_are_no_rows(world: World, table: str) -> None:
    assert sql(f"select count(*) from {table}") == [(0,)]


@EVERY
def test_no_row_is_made_for_another_team(world: World, table: str) -> None:
    with undone(), tenant(world.ours.account.id):
        columns = [
            c
            for (c,) in sql(
                "select column_name from information_schema.columns where table_schema = 'public'"
                f" and table_name = '{table}' and column_name <> 'account_id' and is_generated = 'NEVER'"
            )
        ]
        named = ", ".join(f'"{c}"' for c in columns)
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            sql(
                f"insert into {table} (account_id, {named})"
                f" select '{world.theirs.account.id}', {named} from {table} limit 1"
            )


@EVERY
@pytest.mark.parametrize("change", ["delete from {table}", "update {table} set account_id = '{theirs}'"])
def test_what_is_changed_without_a_filter_is_ones_own(world: World, table: str, change: str) -> None:
    """Where the application may change anything: moving a row to another team is refused, and what is written
    once can't be changed at all."""
    before = counted(world, table)
    with undone():
        with suppress(ProgrammingError), transaction.atomic(), tenant(world.ours.account.id):
            sql(change.format(table=table, theirs=world.theirs.account.id))
        assert counted(world, table) == before


def counted(world: World, table: str) -> list[tuple[object, ...]]:
    with tenant(world.theirs.account.id):
        return sql(f"select id, xmin::text from {table} order by id")
