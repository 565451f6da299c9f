from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from accounts.middleware import TenantPageMiddleware, asks_first
from accounts.models import Account, User
from tests.conftest import Cast


def account_in_force(request: HttpRequest, account: str) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("select coalesce(current_setting('hub.account_id', true), '')")
        return HttpResponse(cursor.fetchone()[0])


@asks_first
def without_account(request: HttpRequest, account: str) -> HttpResponse:
    return account_in_force(request, account)


def visited(view: object, cast: Cast) -> str:
    request = RequestFactory().get("/")
    request.user = User.objects.get(id=cast.owner.user_id)
    slug = Account.objects.get(id=cast.account.id).slug
    response = TenantPageMiddleware(lambda r: HttpResponse()).process_view(
        request, view, (), {"account": slug}
    )
    return response.content.decode()


def test_a_page_runs_inside_its_account(cast: Cast) -> None:
    assert visited(account_in_force, cast) == str(cast.account.id)


def test_a_page_that_asks_first_leaves_the_account_for_its_call_to_open(cast: Cast) -> None:
    assert visited(without_account, cast) == ""
