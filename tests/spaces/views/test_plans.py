import re

import pytest
from django.test import Client

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain.plans import Changes, create_plan, update_plan
from spaces.domain.spaces import create_space
from spaces.models import Plan
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of


@pytest.fixture
def client(cast: Cast) -> Client:
    return browser_of(cast.teammate)


def make(cast: Cast, *contents: str) -> str:
    """The address of a plan that has said this, one after the other."""
    with tenant(cast.account.id):
        plan = create_plan(cast.agent, "Refactor", contents[0])
        for content in contents[1:]:
            update_plan(cast.agent, plan.id, Changes(content=content))
    return address(plan)


def address(plan: Plan) -> str:
    return f"{SPACE}/plans/{typed_id('pln', plan.id)}/"


def stored(actor: Actor) -> list[tuple[str, int]]:
    with tenant(actor.account_id):
        return list(Plan.objects.order_by("id").values_list("content", "version"))


def test_a_plan_is_written_and_shown_as_a_document(cast: Cast, client: Client) -> None:
    fields = {
        "title": "Refactor",
        "content": "# Goals\n- Async\n",
        "type": "prd",
        "status": "active",
        "tags": "q3",
    }
    answer = client.post(f"{SPACE}/plans/new/", fields)
    shown = text_of(client.get(answer["Location"]))
    assert '<h2 class="doc-h1">Goals</h2>' in shown
    assert '<p class="doc-item" data-level="0"><span class="doc-mark">•</span><span>Async</span></p>' in shown
    assert "#q3" in shown


def test_any_two_versions_are_compared_word_by_word(cast: Cast, client: Client) -> None:
    page = make(cast, "Send it on Monday", "Send it on Tuesday", "Send them on Tuesday")
    for asked in ("?from=1&to=3", "?from=3&to=1"):
        shown = text_of(client.get(f"{page}{asked}"))
        assert "Send <del>it</del><ins>them</ins> on <del>Monday</del><ins>Tuesday</ins>" in shown
    assert client.get(f"{page}?from=1&to=9").status_code == 404
    assert client.get(f"{page}?from=1&to=x").status_code == 404


def test_an_earlier_version_is_read_and_restored_as_a_new_one(cast: Cast, client: Client) -> None:
    page = make(cast, "first", "second")
    shown = text_of(client.get(f"{page}?version=1"))
    assert "This is version 1. The plan is at version 2." in shown
    assert "first" in shown
    assert client.post(f"{page}restore/", {"number": 1, "version": 2}).status_code == 302
    assert stored(cast.agent) == [("first", 3)]


def test_restoring_over_what_was_not_seen_is_refused(cast: Cast, client: Client) -> None:
    page = make(cast, "first", "second")
    answer = client.post(f"{page}restore/", {"number": 1, "version": 1}, follow=True)
    assert "Someone saved a newer version meanwhile." in text_of(answer)
    assert stored(cast.agent) == [("second", 2)]


def test_a_plan_is_deleted_with_its_versions(cast: Cast, client: Client) -> None:
    page = make(cast, "first", "second")
    assert client.post(f"{page}delete/").status_code == 302
    assert stored(cast.agent) == []
    assert client.get(page).status_code == 404


def test_a_plan_has_its_page_in_its_own_space_only(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        create_space(cast.owner, name="Other", slug="other")
    assert client.get(make(cast, "first").replace("/main/", "/other/")).status_code == 404


def test_the_list_is_narrowed_by_status_and_tag(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        create_plan(cast.agent, "Alpha", "x", Changes(tags=["api"], status="active"))
        create_plan(cast.agent, "Beta", "x")

    def titles(query: str) -> list[str]:
        return re.findall(r"Alpha|Beta", text_of(client.get(f"{SPACE}/plans/{query}")))

    assert titles("") == ["Beta", "Alpha"]
    assert titles("?status=active") == titles("?tag=api") == ["Alpha"]
    assert "No plan is like that" in text_of(client.get(f"{SPACE}/plans/?status=completed"))


def test_a_long_list_goes_on_behind_more(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        for n in range(51):
            create_plan(cast.agent, f"Plan number {n:02}", "x")
    first = text_of(client.get(f"{SPACE}/plans/"))
    more = re.search(r'href="([^"]+)">More<', first)
    assert more
    second = text_of(client.get(f"{SPACE}/plans/{more[1].replace('&amp;', '&')}"))
    numbers = [sorted(set(re.findall(r"Plan number (\d\d)", page))) for page in (first, second)]
    assert [len(numbers[0]), numbers[1]] == [50, ["00"]]
