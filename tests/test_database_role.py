import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_tests_run_as_the_application_which_owns_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select current_user, session_user, count(*) from pg_tables where tableowner = 'hub_app' group by 1, 2"
        )
        assert cursor.fetchall() == []
        cursor.execute("select current_user, session_user")
        assert cursor.fetchone() == ("hub_app", "hub_app")
