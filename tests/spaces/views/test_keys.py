import re
import time
from urllib.parse import urlencode

import pytest

from accounts.models import AgentKey
from accounts.scopes import FAMILIES
from memoryhub.common.ids import typed_id
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of

NEW = "/a/acme/keys/new/"


def form(cast: Cast, **fields: object) -> dict[str, object]:
    return {
        "name": "Claude Code",
        "preset": "agent",
        "space": str(cast.space.id),
        "life": 30,
        "only_here": "on",
        **fields,
    }


def test_a_key_is_shown_once_and_kept_only_as_a_hash(cast: Cast) -> None:
    client = freshly_signed_in(cast.teammate, time.time())
    shown = client.post(NEW, form(cast))
    secret = re.search(r"mh_live_\w+", text_of(shown))
    assert secret is not None
    assert "no-store" in shown["Cache-Control"]
    key = AgentKey.objects.get(name="Claude Code")
    assert (key.default_space_id, key.space_ids) == (cast.space.id, [cast.space.id])
    assert (key.expires_at - key.created_at).days in (29, 30)  # type: ignore[operator]
    listed = text_of(client.get("/a/acme/keys/"))
    assert "Claude Code" in listed
    assert secret[0] not in listed


def test_a_key_may_be_for_every_space(cast: Cast) -> None:
    fields = form(cast)
    del fields["only_here"]
    freshly_signed_in(cast.teammate, time.time()).post(NEW, fields)
    assert AgentKey.objects.get(name="Claude Code").space_ids is None


def test_a_key_shows_every_tool_unless_fewer_are_chosen(cast: Cast) -> None:
    client = freshly_signed_in(cast.teammate, time.time())
    client.post(NEW, form(cast, name="all"))
    client.post(NEW, form(cast, name="few", tools="paths", profile="chatgpt"))
    made = {key.name: (key.families, key.profile) for key in AgentKey.objects.filter(name__in=["all", "few"])}
    assert made == {"all": (list(FAMILIES), "generic"), "few": (["paths"], "chatgpt")}
    assert client.post(NEW, form(cast, tools="everything")).status_code == 422


@pytest.mark.parametrize("seconds", [301, 10**6])
def test_who_signed_in_long_ago_is_asked_for_the_password_first(cast: Cast, seconds: int) -> None:
    client = freshly_signed_in(cast.teammate, time.time() - seconds)
    for answer in (client.get(NEW), client.post(NEW, form(cast))):
        assert answer.status_code == 302
        assert answer["Location"] == f"/accounts/reauthenticate/?{urlencode({'next': NEW})}"
    assert not AgentKey.objects.filter(name="Claude Code").exists()


def test_giving_the_password_again_is_enough(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    again = f"/accounts/reauthenticate/?{urlencode({'next': NEW})}"
    answer = client.post(again, {"password": "correct horse battery"})
    assert answer["Location"] == NEW
    assert client.get(NEW).status_code == 200


@pytest.mark.parametrize("field", ["name", "preset", "space", "life"])
def test_what_is_missing_is_told_and_no_key_is_made(cast: Cast, field: str) -> None:
    answer = freshly_signed_in(cast.teammate, time.time()).post(NEW, form(cast, **{field: ""}))
    assert answer.status_code == 422
    assert not AgentKey.objects.filter(name="Claude Code").exists()


def test_a_key_for_a_space_of_another_team_is_refused(cast: Cast) -> None:
    answer = freshly_signed_in(cast.teammate, time.time()).post(
        NEW, form(cast, space=str(cast.outsider_space.id))
    )
    assert answer.status_code == 422


def test_members_see_and_revoke_their_own_keys_and_admins_all(cast: Cast) -> None:
    key = AgentKey.objects.get(account_id=cast.account.id)  # the teammate's
    page = f"/a/acme/keys/{typed_id('key', key.id)}/revoke/"
    assert key.name not in text_of(browser_of(cast.approver).get("/a/acme/keys/")).partition("<tbody>")[2]
    assert browser_of(cast.approver).post(page).status_code == 404
    key.refresh_from_db()
    assert key.is_live
    assert browser_of(cast.admin).post(page).status_code == 302
    key.refresh_from_db()
    assert not key.is_live
