import pytest
from django.db import connection, transaction

from memoryhub.common.locks import lock

pytestmark = pytest.mark.django_db(transaction=True)
HELD = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"


def held() -> int:
    with connection.cursor() as cursor:
        cursor.execute(HELD)
        (count,) = cursor.fetchone()
        return int(count)


def test_a_name_is_locked_once_and_until_the_transaction_ends() -> None:
    with transaction.atomic():
        lock("one")
        lock("one")
        assert held() == 1
        lock("another")
        assert held() == 2
    assert held() == 0
