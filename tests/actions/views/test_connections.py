"""The page Connections: signing in at a vendor and coming back, and every way in which that can go wrong."""

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.domain.members import change_role
from accounts.scopes import Role
from actions.domain.connections import list_connections
from actions.domain.tokens import tokens_of
from actions.models import Connection
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.pages import freshly_signed_in, text_of
from tests.vendors.authorities import GOOGLE, SECRET, Authority
from tests.vendors.faults import BY_NAME
from tests.vendors.server import Vendor
from tests.vendors.stage import agreed, signed_in

pytestmark = pytest.mark.django_db

VENDORS = {"slack": "Slack", "google": "Google", "github": "GitHub", "notion": "Notion"}
EVERY = pytest.mark.parametrize("vendor", VENDORS)
LIST = "/a/acme/connections/"


@pytest.fixture
def owner(cast: Cast, authorities: dict[str, Authority]) -> Client:
    return freshly_signed_in(cast.owner, time.time())


def way_out(browser: Client, vendor: str) -> str:
    """Where the link leads that the page has for signing in."""
    shown = browser.get(f"{LIST}new/{vendor}/")
    assert shown.status_code == 200
    [href] = re.findall(r'<a href="(http[^"]+)" class="btn primary', text_of(shown))
    return href.replace("&amp;", "&")


def callback(vendor: str) -> str:
    return f"/connections/callback/{vendor}/"


def back(browser: Client, vendor: str, **answer: str) -> HttpResponse:
    return browser.get(callback(vendor), answer)


def went_and_came_back(browser: Client, vendor: str, **changes: str) -> HttpResponse:
    return back(browser, vendor, **{**agreed(way_out(browser, vendor)), **changes})


def connected(cast: Cast) -> list[str]:
    with tenant(cast.account.id):
        return [connection.vendor for connection in list_connections(cast.owner)]


def said(answer: HttpResponse, client: Client) -> str:
    """The page that one is sent to."""
    assert (answer.status_code, answer["Location"]) == (302, LIST)
    return text_of(client.get(LIST))


@EVERY
def test_a_person_signs_in_and_is_connected(cast: Cast, owner: Client, vendor: str) -> None:
    assert f"Connect with {VENDORS[vendor]}" in text_of(owner.get(LIST))
    page = said(went_and_came_back(owner, vendor), owner)
    assert f"{VENDORS[vendor]} is connected as" in page
    assert "signed in by Owner" in page
    assert connected(cast) == [vendor]


@EVERY
def test_no_page_has_a_token_or_the_secret_of_the_hub(cast: Cast, owner: Client, vendor: str) -> None:
    came = went_and_came_back(owner, vendor)
    with tenant(cast.account.id):
        [connection] = Connection.objects.all()
        held = tokens_of(connection)
    shown = [came, owner.get(LIST), owner.get(f"{LIST}new/{vendor}/"), owner.get("/a/acme/audit/")]
    for page in shown:
        for secret in (held.access, held.refresh, connection.sealed, SECRET):
            assert secret not in text_of(page) + str(dict(page.items()))


def test_the_way_out_is_a_link_and_the_policy_of_the_page_stays_strict(owner: Client) -> None:
    shown = owner.get(f"{LIST}new/google/")
    assert "form-action 'self';" in f"{shown['Content-Security-Policy']};"
    assert shown["Cache-Control"].startswith("max-age=0")
    assert shown["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer"])
def test_who_may_not_connect_is_sent_nowhere(cast: Cast, authorities: dict[str, Authority], who: str) -> None:
    browser = freshly_signed_in(getattr(cast, who), time.time())
    assert "Continue to" not in text_of(browser.get(f"{LIST}new/google/"))
    assert "Connect with" not in text_of(browser.get(LIST))


def test_where_the_hub_is_not_registered_the_page_says_what_to_set(cast: Cast, settings) -> None:
    browser = freshly_signed_in(cast.owner, time.time())
    assert "not registered at Slack, Google, GitHub, Notion" in text_of(browser.get(LIST))
    page = text_of(browser.get(f"{LIST}new/notion/"))
    assert "Continue to" not in page
    for words in (
        "NOTION_CLIENT_ID",
        "NOTION_CLIENT_SECRET",
        f"{settings.PUBLIC_URL}/connections/callback/notion/",
    ):
        assert words in page


def test_who_says_no_is_back_where_they_were_with_nothing_connected(cast: Cast, owner: Client) -> None:
    state = parse_qs(urlsplit(way_out(owner, "google")).query)["state"][0]
    page = said(back(owner, "google", state=state, error="access_denied"), owner)
    assert "You did not allow it. Nothing was connected." in page
    assert connected(cast) == []


def failed(answer: HttpResponse, status: int) -> str:
    """Whoever is told so is told plainly, and gets no further."""
    page = text_of(answer)
    assert answer.status_code == status, page
    assert "is not connected" in page
    return page


@pytest.mark.parametrize(
    "error", ["server_error", "invalid_scope", "<script>", "x" * 4000, "redirect_uri_mismatch"]
)
def test_an_error_of_the_vendors_is_told_in_a_word(cast: Cast, owner: Client, error: str) -> None:
    state = parse_qs(urlsplit(way_out(owner, "github")).query)["state"][0]
    page = failed(back(owner, "github", state=state, error=error), 400)
    assert "did not let you through" in page
    assert "<script>" not in page
    assert "Begin again" in page


STATES: dict[str, Callable[[str], dict[str, str]]] = {
    "none": lambda state: {},
    "empty": lambda state: {"state": ""},
    "another": lambda state: {"state": "x" * 43},
    "cut short": lambda state: {"state": state[:-1]},
    "longer": lambda state: {"state": state + "x"},
    "endless": lambda state: {"state": "x" * 5000},
    "odd": lambda state: {"state": "\u202e\x00"},
}


@pytest.mark.parametrize("which", STATES)
def test_an_answer_that_nobody_awaits_is_not_taken_up(
    cast: Cast, owner: Client, authorities: dict[str, Authority], which: str
) -> None:
    brought = agreed(way_out(owner, "github"))
    failed(back(owner, "github", code=brought["code"], **STATES[which](brought["state"])), 400)
    assert connected(cast) == []
    assert authorities["github"].tried == []


@pytest.mark.parametrize("name", ["state", "code", "iss", "error"])
def test_what_stands_there_twice_is_refused(
    cast: Cast, owner: Client, authorities: dict[str, Authority], name: str
) -> None:
    brought = agreed(way_out(owner, "github"))
    query = "&".join(f"{key}={value}" for key, value in {**brought, name: brought.get(name, "a")}.items())
    failed(owner.get(f"{callback('github')}?{query}&{name}=b"), 400)
    assert authorities["github"].tried == []


def test_an_answer_without_a_code_is_none(cast: Cast, owner: Client) -> None:
    state = parse_qs(urlsplit(way_out(owner, "github")).query)["state"][0]
    assert "no reason" in failed(back(owner, "github", state=state), 400)


def test_an_answer_counts_once(cast: Cast, owner: Client, authorities: dict[str, Authority]) -> None:
    brought = agreed(way_out(owner, "github"))
    said(back(owner, "github", **brought), owner)
    assert "taken up already" in failed(back(owner, "github", **brought), 409)
    assert len(authorities["github"].tried) == 1
    assert connected(cast) == ["github"]


def test_of_two_answers_at_the_same_moment_one_counts(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    """Both have the session as it was before either of them."""
    brought = agreed(way_out(owner, "github"))
    before = dict(owner.session)
    said(back(owner, "github", **brought), owner)
    session = owner.session
    session.update(before)
    session.save()
    failed(back(owner, "github", **brought), 409)
    assert len(authorities["github"].tried) == 1


def test_another_browser_of_the_same_person_does_not_take_it_up(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    brought = agreed(way_out(owner, "google"))
    other = freshly_signed_in(cast.owner, time.time())
    assert "not begun in this browser" in failed(back(other, "google", **brought), 400)
    assert authorities["google"].tried == []
    said(back(owner, "google", **brought), owner)


@pytest.mark.parametrize("who", ["admin", "outsider_person"])
def test_another_persons_browser_does_not_take_it_up(
    cast: Cast, owner: Client, authorities: dict[str, Authority], who: str
) -> None:
    brought = agreed(way_out(owner, "google"))
    other = freshly_signed_in(getattr(cast, who), time.time())
    failed(back(other, "google", **brought), 400)
    assert authorities["google"].tried == []
    assert connected(cast) == []


def test_who_is_not_signed_in_is_told_so_and_nothing_is_kept_of_the_code(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    brought = agreed(way_out(owner, "google"))
    page = failed(back(Client(), "google", **brought), 403)
    assert "not signed in" in page
    assert brought["code"] not in page
    assert authorities["google"].tried == []


def test_somebody_else_in_the_same_browser_does_not_take_it_up(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    brought = agreed(way_out(owner, "google"))
    kept = dict(owner.session)["journeys"]
    other = freshly_signed_in(cast.admin, time.time())
    session = other.session
    session["journeys"] = kept
    session.save()
    assert "Somebody else began this" in failed(back(other, "google", **brought), 403)
    assert authorities["google"].tried == []


def test_an_answer_for_one_vendor_is_not_taken_for_another(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    brought = agreed(way_out(owner, "google"))
    assert "from elsewhere" in failed(back(owner, "github", **brought), 400)
    assert authorities["github"].tried == authorities["google"].tried == []
    failed(back(owner, "google", **brought), 409)  # nor anywhere after that


def test_an_answer_of_another_issuer_is_not_taken_up(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    page = failed(went_and_came_back(owner, "google", iss="https://accounts.evil.example"), 400)
    assert "from elsewhere" in page
    assert authorities["google"].tried == []


def test_who_takes_too_long_begins_again(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    brought = agreed(way_out(owner, "google"))
    session = owner.session
    [kept] = session["journeys"].values()
    kept["since"] -= 15 * 60 + 1
    session.save()
    page = failed(back(owner, "google", **brought), 409)
    assert "took too long" in page
    assert authorities["google"].tried == []


def test_a_browser_awaits_a_few_at_a_time(cast: Cast, owner: Client) -> None:
    first = agreed(way_out(owner, "github"))
    for vendor in ("slack", "google", "github", "notion", "slack"):
        way_out(owner, vendor)
    assert len(owner.session["journeys"]) == 5
    failed(back(owner, "github", **first), 400)


def test_who_is_demoted_on_the_way_is_not_connected(cast: Cast, authorities: dict[str, Authority]) -> None:
    admin = freshly_signed_in(cast.admin, time.time())
    brought = agreed(way_out(admin, "github"))
    with tenant(cast.account.id):
        change_role(cast.owner, cast.admin.user_id, Role.MEMBER)
    failed(back(admin, "github", **brought), 403)
    assert authorities["github"].tried == []
    assert connected(cast) == []


@EVERY
def test_a_code_that_the_vendor_does_not_take_is_told_so(owner: Client, vendor: str) -> None:
    page = failed(went_and_came_back(owner, vendor, code="another"), 400)
    assert "used, or too old" in page
    assert f"{LIST}new/{vendor}/" in page


@pytest.mark.parametrize("fault", ["slow", "malformed", "huge", "drop after the effect", "too many requests"])
def test_a_vendor_that_does_not_answer_as_it_should_is_told_so(
    cast: Cast, owner: Client, authorities: dict[str, Authority], fault: str
) -> None:
    authorities["google"].faults.append(BY_NAME[fault])
    page = failed(went_and_came_back(owner, "google"), 503)
    assert "Nothing was connected" in page
    assert connected(cast) == []


def test_an_address_of_no_vendor_is_nothing(cast: Cast, owner: Client) -> None:
    assert back(owner, "gitlab", state="x", code="y").status_code == 404


def test_what_was_left_out_is_named_on_the_page(
    cast: Cast, owner: Client, authorities: dict[str, Authority]
) -> None:
    authorities["google"].allows = {"openid", f"{GOOGLE}userinfo.email", f"{GOOGLE}calendar.events"}
    page = said(went_and_came_back(owner, "google"), owner)
    assert "But it was not allowed: gmail.send, gmail.metadata." in page
    assert "Not allowed" in page


def test_a_broken_connection_says_so_and_asks_to_be_connected_anew(cast: Cast, owner: Client) -> None:
    went_and_came_back(owner, "github")
    with tenant(cast.account.id):
        Connection.objects.update(broken=True, trouble="signed out")
    page = text_of(owner.get(LIST))
    assert "Signed out there: connect it anew" in page
    page = said(went_and_came_back(owner, "github"), owner)
    assert "Signed out there" not in page


def test_when_it_was_used_last_is_shown(cast: Cast, owner: Client) -> None:
    went_and_came_back(owner, "github")
    assert "not used yet" in text_of(owner.get(LIST))
    with tenant(cast.account.id):
        Connection.objects.update(used_at=timezone.now())
    assert "not used yet" not in text_of(owner.get(LIST))


def disconnect(cast: Cast, browser: Client) -> str:
    with tenant(cast.account.id):
        [connection] = list_connections(cast.owner)
    return said(browser.post(f"{LIST}{connection.uid}/revoke/"), browser)


def test_disconnecting_says_what_became_of_it_at_the_vendor(
    cast: Cast, owner: Client, authorities: dict[str, Authority], settings: Any
) -> None:
    went_and_came_back(owner, "google")
    assert "Google is disconnected, here and there." in disconnect(cast, owner)
    went_and_came_back(owner, "google")
    settings.VENDOR_URLS = {**settings.VENDOR_URLS, "google_oauth": "http://127.0.0.1:9"}
    assert "did not say that it revoked the token" in disconnect(cast, owner)
    assert connected(cast) == []


def test_checking_renews_what_is_over(
    cast: Cast, owner: Client, authorities: dict[str, Authority], vendors: dict[str, Vendor]
) -> None:
    with tenant(cast.account.id):
        connection = signed_in(cast.owner, "slack")
    authorities["slack"].expire()
    assert "It works." in said(owner.post(f"{LIST}{connection.uid}/check/"), owner)
