"""Who may open each page in a browser, and who may do what it is for. A new page needs a line in PAGES."""

from collections.abc import Iterator
from copy import deepcopy

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User
from tests.matrix.asking_again import ALWAYS, ELSEWHERE, NEVER
from tests.matrix.operations import filled
from tests.matrix.pages import (
    ABSENT,
    EVERYBODY,
    FORBIDDEN,
    GOES_ON,
    NOT_SO,
    OUTCOMES,
    PAGES,
    SIGN_IN,
    SPACE,
    Audience,
    Page,
)
from tests.matrix.world import CLOSED, OURS, World, undone

pytestmark = pytest.mark.django_db

DECLARED = [
    (name, method) for name, page in PAGES.items() for method in ("get", "post") if getattr(page, method)
]
IN_SPACES = [(name, method) for name, method in DECLARED if PAGES[name].address.startswith(SPACE)]
CLIENTS = ("v1:", "oauth-register", "oauth-token", "oauth-revoke")  # which send no cookies
FORMS = [name for name, method in DECLARED if method == "post" and not name.startswith(CLIENTS)]

EVERY = pytest.mark.parametrize(("name", "method"), DECLARED)


def test_every_page_is_declared() -> None:
    served = set(names(get_resolver()))
    assert served - PAGES.keys() == set(), "say in PAGES who may open these"
    assert PAGES.keys() - served == set(), "these are gone: take them out of PAGES"


@EVERY
def test_each_person_gets_what_is_declared(world: World, name: str, method: str) -> None:
    found = {who: tried(world, who, PAGES[name], method) for who in EVERYBODY}
    assert found == getattr(PAGES[name], method)


@pytest.mark.parametrize(("name", "method"), IN_SPACES)
def test_a_page_of_a_closed_space_is_for_those_who_are_named_in_it(
    world: World, name: str, method: str
) -> None:
    """The approver is named as one who reads; of what members and viewers see nothing, they hear nothing."""
    declared: Audience = getattr(PAGES[name], method)
    expecting = {**declared, "approver": declared["viewer"], "member": ABSENT, "viewer": ABSENT}
    found = {who: tried(world, who, PAGES[name], method, world.ours.closed_ids) for who in EVERYBODY}
    assert found == expecting


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_done_for_a_form_that_another_site_sends(world: World, name: str) -> None:
    strict = Client(enforce_csrf_checks=True, raise_request_exception=False)
    strict.cookies = deepcopy(world.browser("owner").cookies)
    assert outcome(sent(strict, PAGES[name], "post", world.ours.ids)) == FORBIDDEN


def test_every_form_says_whether_it_asks_again() -> None:
    declared = [*ALWAYS, *ELSEWHERE, *NEVER]
    assert set(FORMS) - set(declared) == set(), (
        "say in tests/matrix/asking_again.py whether these ask who is there"
    )
    assert set(declared) - set(FORMS) == set(), "these are gone: take them out"
    assert len(declared) == len(set(declared))


@pytest.mark.parametrize("name", FORMS)
def test_a_form_asks_who_signed_in_long_ago_as_it_says(world: World, name: str) -> None:
    with undone():
        answer = sent(long_ago(world), PAGES[name], "post", world.ours.ids)
    assert asks_again(answer) == (name in ALWAYS)


@pytest.mark.parametrize(
    "name", [name for name, page in PAGES.items() if page.fresh and NOT_SO not in page.get.values()]
)
def test_what_is_shown_to_the_freshly_signed_in_alone_asks_the_others(world: World, name: str) -> None:
    assert asks_again(sent(long_ago(world), PAGES[name], "get", world.ours.ids))


def long_ago(world: World) -> Client:
    """An owner who signed in so long ago that nobody knows when."""
    client = Client(raise_request_exception=False)
    client.force_login(world.ours.people["owner"])
    return client


def asks_again(answer: HttpResponse) -> bool:
    return answer.status_code == 302 and "reauthenticate" in answer["Location"]


def test_nobody_becomes_a_person_without_an_invitation(world: World) -> None:
    sent(world.browser("nobody"), PAGES["account_signup"], "post", {})
    assert not User.objects.filter(email=PAGES["account_signup"].data["email"]).exists()


def names(resolver: URLResolver) -> Iterator[str]:
    """Of every address but those of operations and of the administration, which have tables of their own."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace != "admin":
                space = f"{pattern.namespace}:" if pattern.namespace else ""
                yield from (space + name for name in names(pattern))
        elif isinstance(pattern, URLPattern) and not is_operation(pattern):
            yield pattern.name or str(pattern.pattern)


def is_operation(pattern: URLPattern) -> bool:
    return bool(
        getattr(getattr(pattern.callback, "view_initkwargs", None), "get", lambda _: None)("operations")
    )


def tried(world: World, who: str, page: Page, method: str, ids: dict[str, str] | None = None) -> str:
    """The outcome, which tells nothing of ours to whom the page is not for."""
    with undone():
        response = sent(world.browser(who), page, method, ids or world.ours.ids)
    found, text = outcome(response), getattr(response, "content", b"").decode()
    told = [word for word in (OURS, CLOSED) if word in text and found in (ABSENT, SIGN_IN)]
    return f"{found}, and told {told}" if told else found


def sent(client: Client, page: Page, method: str, ids: dict[str, str]) -> HttpResponse:
    """What the browser is told to keep or to drop, it doesn't."""
    address, data, cookies = page.address.format_map(ids), filled(page.data, ids), deepcopy(client.cookies)
    try:
        return client.get(address) if method == "get" else client.post(address, data)
    finally:
        client.cookies = cookies


def outcome(response: HttpResponse) -> str:
    if response.status_code in (301, 302):
        return SIGN_IN if "/accounts/login/" in response["Location"] else GOES_ON
    return OUTCOMES.get(response.status_code, str(response.status_code))
