"""What acts for a person, in each of their teams, and its end."""

import time

import pytest

from accounts.domain.accounts import add_member
from accounts.domain.credentials import authenticate
from accounts.models import User
from accounts.scopes import Role
from memoryhub.common.errors import Unauthorized
from tests.conftest import Cast, make_key
from tests.oauth import MCP, connect
from tests.pages import browser_of, freshly_signed_in, text_of

pytestmark = pytest.mark.django_db


def works(secret: str) -> bool:
    try:
        authenticate({"authorization": f"Bearer {secret}"}, address="192.0.2.1", resource=MCP)
    except Unauthorized:
        return False
    return True


def test_everything_of_ones_own_in_a_team_ends_at_once_and_nothing_else(cast: Cast) -> None:
    add_member(cast.outsider.account_id, User.objects.get(id=cast.teammate.user_id), Role.MEMBER)
    mine = [make_key(cast.teammate, cast.space)[1] for _ in range(2)]
    client = connect(cast.teammate, cast.space.id)["access_token"]
    of_others = make_key(cast.owner, cast.space)[1]
    browser = freshly_signed_in(cast.teammate, time.time())
    shown = text_of(browser.get("/acting/"))
    assert ("3 keys that you made" in shown, "1 client that you let in" in shown) == (True, True)
    assert ("Acme" in shown, "Globex" in shown) == (True, True)
    assert all(map(works, [*mine, client, of_others]))
    answer = browser.post("/a/globex/keys/end-mine/", follow=True)
    assert "Ended here: keys 0, clients 0" in text_of(answer)
    assert all(map(works, [*mine, client]))
    answer = browser.post("/a/acme/keys/end-mine/", follow=True)
    assert "Ended here: keys 3, clients 1" in text_of(answer)
    assert [works(secret) for secret in (*mine, client, of_others)] == [False, False, False, True]


def test_who_is_in_no_team_is_told_that_nothing_acts_for_them(cast: Cast) -> None:
    user = User.objects.create_user("alone@hub.example")
    client = browser_of(cast.viewer)
    client.force_login(user)
    assert "You are in no team" in text_of(client.get("/acting/"))
