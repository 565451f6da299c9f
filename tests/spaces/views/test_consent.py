"""The page on which a person lets a hosted client in, and where they end it."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.domain.credentials import authenticate
from accounts.domain.grants import list_grants, revoke_grant
from accounts.models import Application, Grant, Membership
from accounts.scope_words import SCOPE_WORDS
from accounts.scopes import PRESETS, Role, Scope
from memoryhub.common.errors import Unauthorized
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from tests.calls import call
from tests.conftest import Cast
from tests.oauth import (
    HERE,
    MCP,
    answer_to,
    bearer,
    browser_for,
    connect,
    returned,
    visitor,
)
from tests.pages import browser_of, text_of

pytestmark = pytest.mark.django_db


def test_a_client_is_let_in_with_what_was_agreed_to(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    actor = authenticate(bearer(tokens), address="192.0.2.1", resource=MCP)
    grant = Grant.objects.get()
    assert (actor.kind, actor.key_id, actor.user_id) == ("grant", grant.id, cast.teammate.user_id)
    assert actor.scopes == {Scope.MEMORY_READ, Scope.MEMORY_WRITE}
    assert (actor.default_space_id, actor.space_ids) == (cast.space.id, {cast.space.id})
    assert (actor.name, actor.profile) == ("Visitor", "generic")


def test_the_page_names_the_client_where_its_answer_goes_and_what_it_may(cast: Cast) -> None:
    shown = browser_for(cast.teammate).get(visitor().question())
    text = text_of(shown)
    for part in ("Visitor", "client.example", "Read and search memories", "Remember things", cast.space.name):
        assert part in text
    assert "form-action 'self' https://client.example" in shown["Content-Security-Policy"]
    assert "no-store" in shown["Cache-Control"]
    assert shown["X-Frame-Options"] == "DENY"


def test_no_is_told_to_the_client(cast: Cast) -> None:
    back = returned(
        answer_to(browser_for(cast.teammate), visitor().question(), cast.space.id, decision="deny")
    )
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", HERE)
    assert not Grant.objects.exists()


def test_yes_is_told_with_who_says_so(cast: Cast) -> None:
    back = returned(answer_to(browser_for(cast.teammate), visitor().question(), cast.space.id))
    assert (back["state"], back["iss"]) == ("s-1", HERE)


def test_what_is_unticked_is_not_given(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id, form={"granted": ["memory:read"], "only_here": None})
    actor = authenticate(bearer(tokens), address="", resource=MCP)
    assert (tokens["scope"], actor.scopes) == ("memory:read", {Scope.MEMORY_READ})
    assert actor.space_ids is None


def test_who_names_no_scope_is_offered_what_agents_have(cast: Cast) -> None:
    asked = visitor().question(scope=None)
    offered = re.findall(r'name="granted" value="([^"]+)"', text_of(browser_for(cast.teammate).get(asked)))
    assert set(offered) == PRESETS["agent"]


def test_every_scope_is_told_in_plain_words() -> None:
    assert set(SCOPE_WORDS) == set(Scope)
    assert len({str(words) for words in SCOPE_WORDS.values()}) == len(Scope)


def test_what_nobody_can_grant_is_never_offered(cast: Cast) -> None:
    asked = visitor().question(scope="memory:read members:manage openid actions:approve")
    offered = re.findall(r'name="granted" value="([^"]+)"', text_of(browser_for(cast.teammate).get(asked)))
    assert offered == ["memory:read"]
    more = answer_to(
        browser_for(cast.teammate), asked, cast.space.id, granted=["memory:read", "actions:approve"]
    )
    assert more.status_code == 422


def test_what_was_not_asked_for_can_not_be_given(cast: Cast) -> None:
    answer = answer_to(
        browser_for(cast.teammate), visitor().question(), cast.space.id, granted=["export:read"]
    )
    assert answer.status_code == 422
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("asking", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "S512"}, "invalid_request"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": None}, "invalid_request"),
        ({"scope": "members:manage approve"}, "invalid_scope"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{HERE}.evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{HERE}@evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{HERE}/mcp/nothing"}, "invalid_target"),
        ({"resource": f"{HERE}/mcp#part"}, "invalid_target"),
        ({"resource": "/mcp"}, "invalid_target"),
        ({"resource": [MCP, "https://evil.example/mcp"]}, "invalid_target"),
    ],
)
def test_what_is_not_in_order_is_told_to_the_person_who_may_take_it_back_to_the_client(
    cast: Cast, asking: dict[str, Any], error: str
) -> None:
    """Anybody registers a client: a link to this hub that leads on by itself would lend it the hub's name."""
    browser, asked = browser_for(cast.teammate), visitor().question(**asking)
    shown = browser.get(asked)
    assert (shown.status_code, "Location" in shown) == (400, False)
    link = re.search(
        r'href="(https://client\.example/callback\?[^"]+)"[^>]*>Back to client.example<', text_of(shown)
    )
    assert link
    back = parse_qs(urlsplit(unescape(link[1])).query)
    assert (back["error"], back["state"], back["iss"]) == ([error], ["s-1"], [HERE])
    assert not Grant.objects.exists()


def test_a_client_that_was_let_in_before_hears_at_once_what_is_not_in_order(cast: Cast) -> None:
    client = visitor()
    asked = client.question(scope="members:manage")
    connect(cast.teammate, cast.space.id, client)
    back = returned(browser_for(cast.teammate).get(asked))
    assert (back["error"], back["state"], back["iss"]) == ("invalid_scope", "s-1", HERE)
    assert browser_for(cast.owner).get(asked).status_code == 400
    with tenant(cast.account.id):
        revoke_grant(cast.teammate, typed_id("grt", Grant.objects.get().id))
    assert browser_for(cast.teammate).get(asked).status_code == 400


@pytest.mark.parametrize(
    "asking",
    [
        {"client_id": "unknown"},
        {"client_id": None},
        {"client_id": "a\0b"},
        {"client_id": "https://127.0.0.1/client.json"},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "https://client.example/callback/"},
        {"redirect_uri": "https://client.example/callback?a=1"},
        {"redirect_uri": "https://client.example/callback;a=1"},
        {"redirect_uri": "https://client.example/callback#part"},
        {"redirect_uri": "https://client.example:444/callback"},
        {"redirect_uri": "https://client.example.evil.example/callback"},
        {"redirect_uri": "https://evil@client.example/callback"},
        {"redirect_uri": "https://clіent.example/callback"},
        {"redirect_uri": "http://client.example/callback"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "//client.example/callback"},
        {"redirect_uri": ["https://client.example/callback", "https://evil.example/callback"]},
        {"state": ["one", "two"]},
        {"scope": "a\0b"},
    ],
)
def test_who_is_not_known_gets_no_redirect(cast: Cast, asking: dict[str, Any]) -> None:
    browser, asked = browser_for(cast.teammate), visitor().question(**asking)
    for answer in (browser.get(asked), answer_to(browser, asked, cast.space.id)):
        assert (answer.status_code, "Location" in answer) == (400, False)
        assert "can’t be connected" in text_of(answer)
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("registered", "asked", "good"),
    [
        ("http://localhost/callback", "http://localhost:49567/callback", True),
        ("http://localhost:1234/callback", "http://localhost/callback", True),
        ("http://127.0.0.1/callback", "http://127.0.0.1:49567/callback", True),
        ("http://[::1]/callback", "http://[::1]:49567/callback", True),
        ("http://[::1]/callback", "http://[::1]evil.example/callback", False),
        ("http://[::1]/callback", "http://[::1]evil.example:80/callback", False),
        ("http://localhost/callback", "http://localhost:49567/other", False),
        ("http://localhost/callback", "http://127.0.0.1:49567/callback", False),
        ("http://127.0.0.1/callback", "http://127.0.0.2:49567/callback", False),
        ("http://localhost/callback", "http://localhost.evil.example/callback", False),
        ("http://127.0.0.1/callback", "http://127.0.0.1@evil.example/", False),
        ("http://localhost/callback", "https://localhost:49567/callback", False),
        ("https://localhost/callback", "https://localhost:49567/callback", False),
    ],
)
def test_only_the_port_of_this_machine_is_free(cast: Cast, registered: str, asked: str, good: bool) -> None:
    client = visitor(redirect_uris=[registered])
    shown = browser_for(cast.teammate).get(client.question(redirect_uri=asked))
    assert shown.status_code == (200 if good else 400)
    assert ("An app on this computer" in text_of(shown)) is good


def test_a_name_that_disguises_itself_is_shown_as_text(cast: Cast) -> None:
    client = visitor()
    Application.objects.update(name="<img src=x onerror=alert(1)>\u202egpj")  # as it was taken earlier
    text = text_of(browser_for(cast.teammate).get(client.question()))
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
    assert "RIGHT-TO-LEFT OVERRIDE" in text


def test_who_is_not_signed_in_comes_back_after_signing_in(cast: Cast, client: Any) -> None:
    asked = visitor().question()
    answer = client.get(asked)
    assert answer["Location"].startswith("/accounts/login/?next=%2Foauth%2Fauthorize%3F")
    assert "code_challenge" in answer["Location"]


def test_who_signed_in_long_ago_shows_who_they_are_first(cast: Cast) -> None:
    browser, asked = browser_of(cast.teammate), visitor().question()
    for answer in (browser.get(asked), answer_to(browser, asked, cast.space.id)):
        assert answer["Location"].startswith("/accounts/reauthenticate/?next=%2Foauth%2Fauthorize%3F")
    assert not Grant.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "approver", "stranger"])
def test_who_makes_no_keys_lets_nobody_in(cast: Cast, role: str) -> None:
    person = {"viewer": cast.viewer, "approver": cast.approver, "stranger": cast.teammate}[role]
    if role == "stranger":
        Membership.objects.filter(user_id=person.user_id).delete()
    browser, asked = browser_for(person), visitor().question()
    shown = browser.get(asked)
    assert (shown.status_code, 'value="allow"' in text_of(shown)) == (403, False)
    assert answer_to(browser, asked, cast.space.id).status_code == 403
    assert returned(answer_to(browser, asked, "", decision="deny"))["error"] == "access_denied"


def test_a_space_of_others_can_not_be_chosen(cast: Cast) -> None:
    answer = answer_to(browser_for(cast.teammate), visitor().question(), cast.outsider_space.id)
    assert answer.status_code == 422
    assert not Grant.objects.exists()


def test_who_is_in_two_teams_chooses_between_them(cast: Cast) -> None:
    Membership.objects.create(account=cast.account, user_id=cast.outsider_person.user_id, role=Role.MEMBER)
    shown = text_of(browser_for(cast.outsider_person).get(visitor().question()))
    assert re.findall(r'<optgroup label="(\w+)">', shown) == ["Acme", "Globex"]
    tokens = connect(cast.outsider_person, cast.space.id)
    actor = authenticate(bearer(tokens), address="", resource=MCP)
    assert (actor.account_id, actor.role) == (cast.account.id, Role.MEMBER)


def test_who_lets_it_in_for_more_finds_what_they_chose_before(cast: Cast) -> None:
    client = visitor()
    connect(cast.teammate, cast.space.id, client, form={"only_here": None})
    shown = text_of(browser_for(cast.teammate).get(client.question(scope="memory:read memory:delete")))
    assert re.search(r'<input type="checkbox" name="only_here"[^>]*checked', shown) is None
    assert "Forget things for good" in shown


def test_clients_of_chatgpt_are_known_by_where_they_are_sent(cast: Cast) -> None:
    for host, profile in (("chatgpt.com", "chatgpt"), ("chatgpt.com.evil.example", "generic")):
        connect(cast.teammate, cast.space.id, visitor(redirect_uris=[f"https://{host}/back"]))
        assert Grant.objects.latest("created_at").profile == profile


# The page of keys


def test_clients_stand_on_the_page_of_keys_and_are_ended_there(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    browser, grant = browser_for(cast.teammate), Grant.objects.get()
    assert "client.example" in text_of(browser.get("/a/acme/keys/"))
    browser.post(f"/a/acme/keys/grants/{grant.id}/revoke/")
    assert "client.example" not in text_of(browser.get("/a/acme/keys/"))
    with pytest.raises(Unauthorized):
        authenticate(bearer(tokens), address="", resource=MCP)


@pytest.mark.usefixtures("inside")
def test_one_sees_ones_own_clients_and_who_manages_sees_all(cast: Cast) -> None:
    connect(cast.teammate, cast.space.id)
    connect(cast.admin, cast.space.id)
    found = {who.role: len(list_grants(who)) for who in (cast.owner, cast.admin, cast.teammate, cast.viewer)}
    assert found == {Role.OWNER: 2, Role.ADMIN: 2, Role.MEMBER: 1, Role.VIEWER: 0}


def test_a_client_of_another_is_not_ones_to_end(cast: Cast) -> None:
    connect(cast.owner, cast.space.id)
    for person in (cast.teammate, cast.outsider_person):
        answer = browser_for(person).post(f"/a/acme/keys/grants/{Grant.objects.get().id}/revoke/")
        assert answer.status_code == 404
    assert Grant.objects.live().exists()


def test_all_that_a_client_wrote_is_looked_at_and_forgotten_in_one_go(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    actor = authenticate(bearer(tokens), address="", resource=MCP)
    call(actor, "remember", text="The tea is at four")
    call(cast.agent, "remember", text="The cake is at five")
    browser = browser_for(cast.owner)
    link = re.search(r'href="([^"]+\?key=grt_\w+)"', text_of(browser.get("/a/acme/keys/")))
    assert link is not None
    listed = text_of(browser.get(link[1]))
    assert ("The tea is at four" in listed, "The cake is at five" in listed) == (True, False)
    assert "Visitor" in text_of(browser.get(f"/a/acme/{cast.space.slug}/memories/"))


def test_a_code_that_nobody_came_for_shows_nowhere(cast: Cast) -> None:
    returned(answer_to(browser_for(cast.teammate), visitor().question(), cast.space.id))
    assert "No client connected" in text_of(browser_for(cast.teammate).get("/a/acme/keys/"))
