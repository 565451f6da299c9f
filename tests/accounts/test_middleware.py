import threading
from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts.middleware import TenantPageMiddleware, asks_first
from accounts.models import Account, User
from memoryhub.common.locks import lock
from tests.calls import at_once
from tests.conftest import Cast
from tests.pages import browser_of


def account_in_force(request: HttpRequest, account: str) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("select coalesce(current_setting('hub.account_id', true), '')")
        return HttpResponse(cursor.fetchone()[0])


@asks_first
def without_account(request: HttpRequest, account: str) -> HttpResponse:
    return account_in_force(request, account)


def visited(view: object, cast: Cast, **told: object) -> str:
    request = RequestFactory().get("/")
    request.session = SessionStore()
    request.user = User.objects.get(id=cast.owner.user_id)
    slug = Account.objects.get(id=cast.account.id).slug
    response = TenantPageMiddleware(lambda r: HttpResponse()).process_view(
        request, view, (), {"account": slug, **told}
    )
    return response.content.decode()


def visit(client: Client) -> int:
    return client.get("/a/acme/keys/").status_code


def test_a_session_lasts_while_it_is_used(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        client = browser_of(cast.teammate)
        for _ in range(3):
            clock.shift(timedelta(hours=11))
            assert visit(client) == 200
        clock.shift(timedelta(hours=12, seconds=1))
        assert visit(client) == 302


def test_a_session_in_use_is_written_only_now_and_then(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        client = browser_of(cast.teammate)
        visit(client)
        clock.shift(timedelta(minutes=4))
        with CaptureQueriesContext(connection) as captured:
            visit(client)
        assert not [query for query in captured if query["sql"].startswith("UPDATE")]


def test_a_session_in_use_ends_a_fortnight_after_signing_in(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        client = browser_of(cast.teammate)
        assert visit(client) == 200
        for _ in range(42):
            clock.shift(timedelta(hours=8))
            assert visit(client) == 200
        clock.shift(timedelta(seconds=1))
        assert visit(client) == 302


def test_a_page_runs_inside_its_account(cast: Cast) -> None:
    assert visited(account_in_force, cast) == str(cast.account.id)


def test_a_page_that_asks_first_leaves_the_account_for_its_call_to_open(cast: Cast) -> None:
    assert visited(without_account, cast) == ""


@pytest.mark.django_db(transaction=True)
def test_two_pages_that_wait_for_each_other_both_come(cast: Cast) -> None:
    both_hold_one, attempts = threading.Barrier(2), [0, 0]

    def taking(request: HttpRequest, account: str, number: int) -> HttpResponse:
        attempts[number] += 1
        lock(f"page {number}")
        if attempts[number] == 1:
            both_hold_one.wait(10)
        lock(f"page {1 - number}")
        return HttpResponse(f"{number} is there")

    seen = at_once(2, lambda number: visited(taking, cast, number=number))
    assert seen == ["0 is there", "1 is there"]
    assert sorted(attempts) == [1, 2]
