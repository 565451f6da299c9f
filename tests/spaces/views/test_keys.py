import re
import time
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.utils import timezone

from accounts.domain.accounts import add_member
from accounts.models import AgentKey, User
from accounts.scopes import FAMILIES, Role
from memoryhub.common.ids import typed_id
from tests.calls import Caller
from tests.conftest import Cast, make_key
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
    now = time.time()
    assert freshly_signed_in(cast.approver, now).post(page).status_code == 404
    key.refresh_from_db()
    assert key.is_live
    assert "reauthenticate" in browser_of(cast.admin).post(page)["Location"]
    key.refresh_from_db()
    assert key.is_live
    assert freshly_signed_in(cast.admin, now).post(page)["Location"] == "/a/acme/keys/"
    key.refresh_from_db()
    assert not key.is_live


def test_scopes_are_chosen_one_by_one(cast: Cast) -> None:
    client = freshly_signed_in(cast.teammate, time.time())
    sent = form(
        cast, preset="custom", scopes=["memory:read", "space:read"], addresses="192.0.2.7\n2001:DB8::1"
    )
    assert client.post(NEW, sent).status_code == 200
    key = AgentKey.objects.get(name="Claude Code")
    assert (key.scopes, key.addresses) == (["memory:read", "space:read"], ["192.0.2.7", "2001:db8::1"])
    assert client.post(NEW, form(cast, preset="custom")).status_code == 422
    assert client.post(NEW, form(cast, addresses="office")).status_code == 422


def test_the_device_of_a_key_stands_beside_what_its_agent_writes(cast: Cast) -> None:
    client = freshly_signed_in(cast.teammate, time.time())
    secret = re.search(r"mh_live_\w+", text_of(client.post(NEW, form(cast, device="build <box>"))))
    assert secret
    assert "build &lt;box&gt;" in text_of(client.get("/a/acme/keys/"))
    caller, key = Caller(secret[0]), AgentKey.objects.get(name="Claude Code")
    made = caller("POST", "memories", {"text": "Tea is at four"}).json()["memory"]
    assert made["device_label"] == "build <box>"
    assert "build &lt;box&gt;" in text_of(client.get(address_of(key, "change")))
    client.post(address_of(key, "change"), changed(cast, scopes=["memory:write"], device="laptop"))
    made = caller("POST", "memories", {"text": "Tea is at five"}).json()["memory"]
    assert made["device_label"] == "laptop"


def address_of(key: AgentKey, act: str) -> str:
    return f"/a/acme/keys/{typed_id('key', key.id)}/{act}/"


def changed(cast: Cast, **fields: object) -> dict[str, object]:
    return {
        "name": "smaller",
        "scopes": ["memory:read"],
        "families": ["hub"],
        "space": str(cast.space.id),
        **fields,
    }


def test_an_admin_changes_what_a_key_of_another_holds_and_until_when(cast: Cast) -> None:
    """With its next request."""
    _, secret = make_key(cast.teammate, cast.space)
    key = AgentKey.objects.get(hint=secret[-4:])
    caller, admin = Caller(secret), freshly_signed_in(cast.admin, time.time())
    assert caller("POST", "memories", {"text": "Tea is at four"}).status_code == 201
    day = timezone.localdate() + timedelta(days=7)
    sent = changed(cast, spaces=[str(cast.space.id)], expires_on=day.isoformat(), addresses="127.0.0.1")
    assert admin.post(address_of(key, "change"), sent)["Location"] == "/a/acme/keys/"
    assert caller("POST", "memories", {"text": "Tea is at five"}).status_code == 403
    assert caller("GET", "memories").status_code == 200
    assert caller("GET", "memories", REMOTE_ADDR="192.0.2.8").status_code == 401
    key.refresh_from_db()
    assert (key.space_ids, key.families, key.name) == ([cast.space.id], ["hub"], "smaller")
    assert timezone.localdate(key.expires_at) == day + timedelta(days=1)  # type: ignore[type-var]
    with time_machine.travel(timezone.now() + timedelta(days=9)):
        assert caller("GET", "memories").status_code == 401


@pytest.mark.parametrize(
    "wrong",
    [{"scopes": []}, {"families": ["all"]}, {"name": " "}, {"expires_on": "2020-01-01"}, {"addresses": "x"}],
)
def test_a_change_that_will_not_do_is_told_and_changes_nothing(cast: Cast, wrong: dict[str, object]) -> None:
    key = AgentKey.objects.get(name="agent", created_by_id=cast.teammate.user_id)
    client = freshly_signed_in(cast.teammate, time.time())
    assert client.post(address_of(key, "change"), changed(cast, **wrong)).status_code == 422
    assert AgentKey.objects.get(id=key.id).name == "agent"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.APPROVER])
def test_who_may_make_no_keys_any_more_may_only_end_those_they_have(cast: Cast, role: Role) -> None:
    add_member(cast.account.id, User.objects.get(id=cast.teammate.user_id), role)
    key = AgentKey.objects.get(name="agent", created_by_id=cast.teammate.user_id)
    client = freshly_signed_in(cast.teammate, time.time())
    asked = [client.get(address_of(key, act)) for act in ("change", "rotate")]
    asked += [client.post(address_of(key, "change"), changed(cast)), client.post(address_of(key, "rotate"))]
    assert [answer.status_code for answer in asked] == [403] * 4
    key.refresh_from_db()
    assert (key.name, key.replaced_by_id) == ("agent", None)
    assert client.post(address_of(key, "revoke")).status_code == 302
    key.refresh_from_db()
    assert not key.is_live


def test_a_rotated_key_has_two_secrets_for_a_day(cast: Cast) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        _, secret = make_key(cast.teammate, cast.space, addresses=["127.0.0.1"])
        old = AgentKey.objects.get(hint=secret[-4:], name="agent", addresses__len=1)
        client = freshly_signed_in(cast.teammate, time.time())
        assert "24 hours" in text_of(client.get(address_of(old, "rotate")))
        found = re.search(r"mh_live_\w+", text_of(client.post(address_of(old, "rotate"))))
        assert found
        clock.shift(timedelta(hours=23, minutes=59))
        assert [Caller(s)("GET", "whoami").status_code for s in (secret, found[0])] == [200, 200]
        clock.shift(timedelta(minutes=1))
        assert [Caller(s)("GET", "whoami").status_code for s in (secret, found[0])] == [401, 200]
    new = AgentKey.objects.get(hint=found[0][-4:], prefix=found[0][:12], addresses__len=1)
    old.refresh_from_db()
    assert (old.replaced_by_id, new.scopes, new.expires_at - new.created_at) == (  # type: ignore[operator]
        new.id,
        old.scopes,
        timedelta(days=90),
    )


def test_only_its_maker_gets_a_new_secret_and_only_once(cast: Cast) -> None:
    key = AgentKey.objects.get(name="agent", created_by_id=cast.teammate.user_id)
    admin, maker = (freshly_signed_in(person, time.time()) for person in (cast.admin, cast.teammate))
    assert admin.post(address_of(key, "rotate")).status_code == 403
    assert maker.post(address_of(key, "rotate")).status_code == 200
    assert maker.post(address_of(key, "rotate")).status_code == 409
    assert maker.post(address_of(key, "revoke")).status_code == 302
    refused = maker.post(address_of(key, "change"), changed(cast))
    assert (refused.status_code, "has ended" in text_of(refused)) == (422, True)


def test_the_welcome_knows_the_key_that_was_printed_when_the_hub_was_started(cast: Cast) -> None:
    client = freshly_signed_in(cast.owner, time.time())
    assert "You have one already" not in text_of(client.get("/a/acme/connect/"))
    printed, secret = make_key(cast.owner, cast.space, name="First agent")
    make_key(cast.owner, cast.space, name="A later one")
    make_key(cast.teammate, cast.space, name="Somebody else’s")
    page = text_of(client.get("/a/acme/connect/"))
    told = page.partition("You have one already")[2].partition("Make another key")[0]
    assert "First agent" in told
    assert f"{secret[:12]}…{secret[-4:]}" in told
    assert f"/keys/{printed.key_id}/first-call/" in told
    assert secret not in page
    AgentKey.objects.filter(id=printed.key_id).update(revoked_at=timezone.now())
    assert "A later one" in text_of(client.get("/a/acme/connect/")).partition("You have one already")[2]
