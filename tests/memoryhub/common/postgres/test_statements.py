"""What is asked all the time is planned once in a session, and seen by whatever counts or logs statements."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.common.postgres.rows import Columns
from memoryhub.common.postgres.statements import row_of, rows_of
from spaces.models import Space
from tests.conftest import Cast

ASKED = "select %(number)s::int + 1"


@pytest.mark.django_db
def test_a_statement_is_kept_with_its_plan_after_some_calls() -> None:
    answers = [row_of(ASKED, {"number": number}) for number in range(8)]
    assert answers == [(number + 1,) for number in range(8)]
    kept = rows_of("select statement from pg_prepared_statements", [])
    assert ("select $1::int + 1",) in kept


@pytest.mark.django_db
def test_it_is_counted_like_any_other() -> None:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        rows_of(ASKED, {"number": 1})
    assert len(captured) == 1


@pytest.mark.usefixtures("inside")
def test_rows_become_the_objects_that_the_orm_makes(cast: Cast) -> None:
    Space.objects.filter(id=cast.space.id).update(closed_statuses={"tasks": ["done"]})
    columns = Columns(Space)
    (row,) = rows_of(f"select {', '.join(columns.names)} from spaces_space where id = %s", [cast.space.id])
    read, usual = columns.read(row), Space.objects.get(id=cast.space.id)
    assert {name: getattr(read, name) for name in columns.names} == {
        name: getattr(usual, name) for name in columns.names
    }
    assert not read._state.adding


@pytest.mark.usefixtures("inside")
def test_what_is_left_out_is_read_when_it_is_asked_for(cast: Cast) -> None:
    columns = Columns(Space, without=["description"])
    (row,) = rows_of(f"select {', '.join(columns.names)} from spaces_space where id = %s", [cast.space.id])
    assert "description" not in columns.names
    assert columns.read(row).description == cast.space.description
