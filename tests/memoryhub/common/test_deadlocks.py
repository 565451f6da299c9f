import threading
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection

from memoryhub.common.tenancy import in_tenant
from tests.calls import at_once

pytestmark = pytest.mark.django_db(transaction=True)
LOCK = "select pg_advisory_xact_lock(%s)"


def test_two_that_wait_for_each_other_both_come_through() -> None:
    both_hold_one, attempts = threading.Barrier(2), [0, 0]

    def take(number: int) -> str:
        def act() -> str:
            attempts[number] += 1
            with connection.cursor() as cursor:
                cursor.execute(LOCK, [number])
                if attempts[number] == 1:
                    both_hold_one.wait(10)
                cursor.execute(LOCK, [1 - number])
            return f"{number} is done"

        return in_tenant(uuid4(), act)

    assert at_once(2, take) == ["0 is done", "1 is done"]
    assert sorted(attempts) == [1, 2]


def test_another_fault_of_the_database_is_raised_at_once() -> None:
    attempts = []

    def act() -> None:
        attempts.append(1)
        with connection.cursor() as cursor:
            cursor.execute("select 1 / 0")

    with pytest.raises(DatabaseError):
        in_tenant(uuid4(), act)
    assert len(attempts) == 1
