"""What clients ask the authorization server by themselves, and everything it refuses."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client

from accounts.domain.accounts import add_member
from accounts.domain.clients import tend_clients
from accounts.domain.credentials import authenticate
from accounts.models import Application, Event, Grant, Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import Unauthorized
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from memoryhub.flows.offboarding import remove_member
from tests.conftest import Cast
from tests.memoryhub.common.test_naming import DECEPTIVE
from tests.oauth import (
    CALLBACK,
    HERE,
    MCP,
    Visitor,
    answer_to,
    bearer,
    browser_for,
    connect,
    post_json,
    register,
    returned,
    visitor,
)

pytestmark = pytest.mark.django_db

METADATA = "/.well-known/oauth-authorization-server"


def holds(tokens: dict[str, Any], resource: str = MCP) -> bool:
    try:
        authenticate(bearer(tokens), address="", resource=resource)
    except Unauthorized:
        return False
    return True


def code_for(cast: Cast, client: Visitor, **asking: Any) -> str:
    return returned(answer_to(browser_for(cast.teammate), client.question(**asking), cast.space.id))["code"]


# What it says of itself


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/", f"{METADATA}/mcp", f"{METADATA}/mcp/hub"])
def test_one_description_stands_at_every_form_of_its_address(path: str) -> None:
    said = Client().get(path, headers={"host": "localhost"}).json()
    assert said["issuer"] == HERE
    assert said["token_endpoint"] == f"{HERE}/oauth/token"
    assert said["code_challenge_methods_supported"] == ["S256"]
    assert said["client_id_metadata_document_supported"] is True
    assert said["authorization_response_iss_parameter_supported"] is True


@pytest.mark.parametrize(
    ("path", "resource", "scope", "no_scope"),
    [
        ("", "/mcp", "plans:read", ""),
        ("/mcp", "/mcp", "memory:delete", ""),
        ("/mcp/", "/mcp", "memory:delete", ""),
        ("/mcp/decisions", "/mcp/decisions", "decisions:write", "plans:read"),
        ("/mcp/connector", "/mcp/connector", "memory:read", "memory:write"),
        ("/v1", "/v1", "export:read", ""),
    ],
)
def test_each_address_that_agents_call_is_a_resource(
    path: str, resource: str, scope: str, no_scope: str
) -> None:
    said = Client().get(f"/.well-known/oauth-protected-resource{path}").json()
    assert (said["resource"], said["authorization_servers"]) == (HERE + resource, [HERE])
    assert scope in said["scopes_supported"]
    assert no_scope not in said["scopes_supported"]


def test_what_is_not_served_is_no_resource() -> None:
    assert Client().get("/.well-known/oauth-protected-resource/mcp/nothing").status_code == 404


# Registering


def test_a_client_registers_and_is_told_what_it_is_now() -> None:
    answer = register(scope="anything", software_id="x", grant_types=["authorization_code"])
    said = answer.json()
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    assert said["grant_types"] == ["authorization_code", "refresh_token"]
    assert (said["redirect_uris"], said["client_name"]) == ([CALLBACK], "Visitor")
    assert "client_secret" not in said


@pytest.mark.parametrize(
    "redirect",
    [
        "https://claude.ai/api/mcp/auth_callback",
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "https://chatgpt.com/connector/oauth/Kf93jT0aLmQ2xZ8b",
        "https://vscode.dev/redirect",
        "http://127.0.0.1:33418/",
        "http://localhost:6274/oauth/callback/debug",
    ],
)
def test_the_redirects_of_known_clients_are_taken(redirect: str) -> None:
    assert register(redirect_uris=[redirect]).status_code == 201


def test_a_secret_is_told_once_and_kept_as_a_hash(cast: Cast) -> None:
    said = register(token_endpoint_auth_method="client_secret_post").json()
    kept = Application.objects.get(client_id=said["client_id"])
    assert said["client_secret_expires_at"] == 0
    assert said["client_secret"] not in kept.client_secret
    assert holds(
        connect(cast.teammate, cast.space.id, Visitor(said["client_id"], secret=said["client_secret"]))
    )


@pytest.mark.parametrize(
    "redirect",
    [
        "http://client.example/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.0.0.1@evil.example/",
        "http://2130706433/cb",
        "http://[::1]evil/",
        "http://[::1]evil.example:80/cb",
        "http://[::1].evil.example/cb",
        "http://localhost%2eevil.example/cb",
        "https://client.example%2f.evil.example/cb",
        "https://client.example;.evil.example/cb",
        "https://client.example:/cb",
        "https://:443/cb",
        "https://user@client.example/cb",
        "https://clіent.example/cb",
        "https://client.example/cb#part",
        "https://*.example/cb",
        "https:/client.example/cb",
        "https://client.example\\@evil.example/cb",
        "https://client.example:port/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "client.example/cb",
        "https://client.example/a b",
        "https://client.example/" + "a" * 1000,
        f"https://{'a.' * 150}example/cb",
        f"https://client.example/cb?key={expand('ghp_{crc:30}', Random(4))}",
    ],
)
def test_a_redirect_that_leads_astray_is_refused(redirect: str) -> None:
    answer = register(redirect_uris=[redirect])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": CALLBACK}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://client.example/{n}" for n in range(21)]}, "invalid_redirect_uri"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"client_name": "a" * 256}, "invalid_client_metadata"),
        ({"client_name": "two\nlines"}, "invalid_client_metadata"),
        ({"client_name": ["a"]}, "invalid_client_metadata"),
        ({"client_name": "a\0b"}, "invalid_client_metadata"),
        *(({"client_name": name}, "invalid_client_metadata") for name in DECEPTIVE),
    ],
)
def test_metadata_that_can_not_be_is_refused(metadata: dict[str, Any], error: str) -> None:
    answer = register(**metadata)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"a":NaN}', b"\xff", '"x"', "{" * 40_000])
def test_a_registration_that_is_no_object_is_refused(body: str | bytes) -> None:
    answer = post_json("/oauth/register", body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_one_address_registers_only_so_many_clients_in_an_hour(settings: Any) -> None:
    settings.OAUTH_REGISTRATIONS = 3
    with time_machine.travel(datetime(2026, 3, 2, 12, 30, tzinfo=UTC), tick=False):
        found = [register().status_code for _ in range(4)]
        refused = register()
    assert found == [201, 201, 201, 429]
    assert refused["Retry-After"] == "1800"
    with time_machine.travel(datetime(2026, 3, 2, 13, 0, tzinfo=UTC), tick=False):
        assert register().status_code == 201


def from_address(address: str) -> int:
    sent = {"client_name": "Visitor", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    answer = Client().post("/oauth/register", sent, content_type="application/json", REMOTE_ADDR=address)
    return answer.status_code


def test_all_addresses_together_register_only_so_many_clients_in_an_hour(settings: Any) -> None:
    settings.OAUTH_REGISTRATIONS, settings.OAUTH_REGISTRATIONS_ALL = 2, 3
    asked = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"]
    with time_machine.travel(datetime(2026, 3, 2, 12, 30, tzinfo=UTC), tick=False):
        assert [from_address(address) for address in asked] == [201, 201, 429, 201, 429]
    with time_machine.travel(datetime(2026, 3, 2, 13, 0, tzinfo=UTC), tick=False):
        assert from_address("192.0.2.3") == 201


def test_the_addresses_of_one_network_count_as_one(settings: Any) -> None:
    settings.OAUTH_REGISTRATIONS = 1
    asked = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1", "::ffff:192.0.2.9", "192.0.2.9"]
    with time_machine.travel(datetime(2026, 3, 3, 12, 30, tzinfo=UTC), tick=False):
        assert [from_address(address) for address in asked] == [201, 429, 201, 201, 429]


def test_clients_that_nobody_uses_are_dropped(cast: Cast) -> None:
    """After a day where nobody let them in, long after the end of what they had, and what nothing renews ends."""
    now = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)

    def left_after(life: timedelta) -> set[str]:
        with time_machine.travel(now + life, tick=False):
            tend_clients()
            return set(Application.objects.values_list("client_id", flat=True))

    with time_machine.travel(now, tick=False):
        idle, asked, used, ended = (visitor() for _ in range(4))
        connect(cast.teammate, cast.space.id, used)
        given_back = connect(cast.teammate, cast.space.id, ended)
        ended.post("/oauth/revoke", token=given_back["access_token"])
        code_for(cast, asked)
    assert left_after(timedelta(hours=23)) == {idle.id, asked.id, used.id, ended.id}
    assert left_after(timedelta(days=1, seconds=1)) == {used.id, ended.id}
    assert Grant.objects.live().count() == 1
    assert left_after(timedelta(days=30, hours=2)) == {used.id, ended.id}
    assert Grant.objects.live().count() == 0
    assert left_after(timedelta(days=91)) == {used.id}
    assert left_after(timedelta(days=121)) == set()
    assert Grant.objects.count() == 2


# Coming for tokens


def test_tokens_are_of_one_kind_each_and_kept_as_hashes_alone(cast: Cast) -> None:
    client = visitor()
    code = code_for(cast, client)
    with connection.cursor() as cursor:
        cursor.execute("select code from oauth2_provider_grant")
        assert cursor.fetchone() != (code,)
    answer = client.exchange(code)
    tokens = answer.json()
    assert tokens["access_token"].startswith("mho_")
    assert tokens["refresh_token"].startswith("mhr_")
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert answer["Cache-Control"] == "no-store"
    with connection.cursor() as cursor:
        cursor.execute(
            "select token from oauth2_provider_accesstoken union all select token from oauth2_provider_refreshtoken"
        )
        assert cursor.fetchall() == [("",), ("",)]


NOT_AS_GIVEN: list[tuple[dict[str, Any], str]] = [
    ({"code_verifier": None}, "invalid_request"),
    ({"code_verifier": "w" * 50}, "invalid_grant"),
    ({"code": "unknown"}, "invalid_grant"),
    ({"code": None}, "invalid_request"),
    ({"code": "a\0b"}, "invalid_request"),
    ({"redirect_uri": "https://client.example/other"}, "invalid_request"),
    ({"redirect_uri": "https://evil.example/callback"}, "invalid_request"),
    ({"client_id": "unknown"}, "invalid_client"),
    ({"client_id": None}, "invalid_client"),
    ({"client_id": "a\0b"}, "invalid_request"),
    ({"client_id": "https://127.0.0.1/client.json"}, "invalid_client"),
    ({"resource": f"{HERE}/mcp/hub"}, "invalid_target"),
    ({"resource": HERE}, "invalid_target"),
    ({"resource": "https://evil.example/mcp"}, "invalid_target"),
    ({"resource": ["http://testserver/mcp", "https://evil.example/mcp"]}, "invalid_target"),
    ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
    (
        {"grant_type": "password", "username": "member@acme.example", "password": "x"},
        "unsupported_grant_type",
    ),
    (
        {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"},
        "unsupported_grant_type",
    ),
    ({"grant_type": None}, "unsupported_grant_type"),
]


def test_a_code_is_exchanged_only_as_it_was_given(cast: Cast) -> None:
    client = visitor()
    code = code_for(cast, client)
    for changes, error in NOT_AS_GIVEN:
        refused = client.exchange(code, **changes)
        assert (refused.status_code in (400, 401), refused.json()["error"]) == (True, error), changes
    assert not Grant.objects.connected().exists()
    assert client.exchange(code).status_code == 200


def test_a_code_is_for_the_client_that_it_was_given_to(cast: Cast) -> None:
    mine, other = visitor(), visitor()
    code = code_for(cast, mine)
    assert other.exchange(code).json()["error"] == "invalid_grant"
    assert mine.exchange(code).status_code == 200


def test_a_code_that_comes_again_ends_what_it_gave(cast: Cast) -> None:
    client = visitor()
    code = code_for(cast, client)
    tokens = client.exchange(code).json()
    assert holds(tokens)
    assert client.exchange(code).json()["error"] == "invalid_grant"
    assert not holds(tokens)
    assert client.refresh(tokens["refresh_token"]).status_code == 400


def test_a_code_lasts_a_minute(cast: Cast) -> None:
    client, now = visitor(), datetime(2026, 3, 2, 12, tzinfo=UTC)
    with time_machine.travel(now, tick=False):
        code = code_for(cast, client)
    with time_machine.travel(now + timedelta(seconds=60), tick=False):
        assert client.exchange(code).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_a_client_with_a_secret_has_to_show_it(cast: Cast, secret: str) -> None:
    made = register(token_endpoint_auth_method="client_secret_basic").json()
    client = Visitor(made["client_id"])
    refused = client.exchange(code_for(cast, client), client_secret=secret or None)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


# Going on


def test_a_refresh_gives_new_tokens_and_ends_the_old_ones(cast: Cast) -> None:
    client = visitor()
    first = connect(cast.teammate, cast.space.id, client)
    second = client.refresh(first["refresh_token"], resource=MCP).json()
    assert second["scope"].split() == first["scope"].split()
    assert (holds(first), holds(second)) == (False, True)
    assert Grant.objects.count() == 1


def test_a_refresh_token_that_comes_again_ends_the_whole_family(cast: Cast) -> None:
    client = visitor()
    first = connect(cast.teammate, cast.space.id, client)
    second = client.refresh(first["refresh_token"]).json()
    third = client.refresh(second["refresh_token"]).json()
    assert client.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert not holds(third)
    assert client.refresh(third["refresh_token"]).json()["error"] == "invalid_grant"
    assert Grant.objects.get().revoked_at is not None


def test_a_refresh_narrows_and_never_widens(cast: Cast) -> None:
    client = visitor()
    first = connect(cast.teammate, cast.space.id, client)
    assert (
        client.refresh(first["refresh_token"], scope="memory:read memory:delete").json()["error"]
        == "invalid_scope"
    )
    narrower = client.refresh(first["refresh_token"], scope="memory:read").json()
    assert narrower["scope"] == "memory:read"


def test_a_refresh_for_another_resource_is_refused(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    for resource in (HERE, f"{HERE}/v1", "https://evil.example/mcp"):
        refused = client.refresh(tokens["refresh_token"], resource=resource)
        assert refused.json()["error"] == "invalid_target"
    assert client.refresh("mhr_x").json()["error"] == "invalid_grant"
    assert holds(client.refresh(tokens["refresh_token"], resource=MCP).json())


def test_a_refresh_token_is_for_its_client(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    assert visitor().refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert client.refresh(tokens["refresh_token"]).status_code == 200


def test_an_access_token_lasts_an_hour_and_what_renews_it_a_month_after(cast: Cast) -> None:
    client, now = visitor(), datetime(2026, 3, 2, 12, tzinfo=UTC)
    with time_machine.travel(now, tick=False):
        tokens = connect(cast.teammate, cast.space.id, client)
        other = connect(cast.teammate, cast.space.id)
    with time_machine.travel(now + timedelta(seconds=3600), tick=False):
        assert not holds(tokens)
    with time_machine.travel(now + timedelta(days=30, seconds=3599), tick=False):
        assert client.refresh(tokens["refresh_token"]).status_code == 200
        assert client.refresh(other["refresh_token"]).status_code == 400


# Where tokens are good


@pytest.mark.parametrize(
    ("audience", "good"),
    [
        ("", {"", "/mcp", "/mcp/hub", "/mcp/paths", "/mcphub", "/v1"}),
        ("/mcp", {"/mcp", "/mcp/hub", "/mcp/paths"}),
        ("/mcp/hub", {"/mcp/hub"}),
        ("/v1", {"/v1"}),
    ],
)
def test_a_token_is_good_at_its_resource_and_below(cast: Cast, audience: str, good: set[str]) -> None:
    tokens = connect(cast.teammate, cast.space.id, resource=HERE + audience)
    places = ("", "/mcp", "/mcp/hub", "/mcp/paths", "/mcphub", "/v1")
    assert {place for place in places if holds(tokens, HERE + place)} == good


@pytest.mark.parametrize(
    "spelt", ["http://testserver/mcp/", "HTTP://TESTSERVER/mcp", "http://testserver:80/mcp", None]
)
def test_a_resource_may_be_spelt_otherwise_and_without_one_the_hub_is_meant(
    cast: Cast, spelt: str | None
) -> None:
    tokens = connect(cast.teammate, cast.space.id, resource=spelt)
    assert Grant.objects.get().resources == [MCP]
    assert holds(tokens)


def test_neither_a_refresh_token_nor_a_code_opens_anything(cast: Cast) -> None:
    client = visitor()
    code = code_for(cast, client)
    tokens = client.exchange(code).json()
    for secret in (tokens["refresh_token"], code, "mho_", "mho_x", "mho_\ud800"):
        assert not holds({"access_token": secret})


# The end


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", [None, "access_token", "nonsense"])
def test_a_client_that_gives_back_either_token_is_disconnected(
    cast: Cast, which: str, hint: str | None
) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    answer = client.post("/oauth/revoke", token=tokens[which], token_type_hint=hint)
    assert answer.status_code == 200
    assert not holds(tokens)
    assert client.refresh(tokens["refresh_token"]).status_code == 400
    assert Grant.objects.get().revoked_at is not None


def test_nobody_gives_back_the_tokens_of_another(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    assert visitor().post("/oauth/revoke", token=tokens["access_token"]).status_code == 200
    assert visitor().post("/oauth/revoke", token="unknown").status_code == 200
    assert holds(tokens)


def test_who_leaves_is_followed_by_what_they_let_in(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    Membership.objects.filter(user_id=cast.teammate.user_id).delete()
    assert not holds(tokens)
    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_who_is_removed_and_comes_back_has_nothing_connected(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    assert cast.teammate.user_id is not None
    with tenant(cast.account.id):
        assert remove_member(cast.owner, cast.teammate.user_id).clients == 1
        add_member(cast.account.id, User.objects.get(id=cast.teammate.user_id), Role.MEMBER)
    assert not holds(tokens)
    assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_who_is_shut_out_is_followed_by_what_they_let_in(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    User.objects.filter(id=cast.teammate.user_id).update(is_active=False)
    assert not holds(tokens)


def test_a_code_is_worth_nothing_once_its_person_has_left(cast: Cast) -> None:
    client = visitor()
    code = code_for(cast, client)
    Membership.objects.filter(user_id=cast.teammate.user_id).delete()
    assert client.exchange(code).json()["error"] == "invalid_grant"


def test_rights_shrink_with_the_person(cast: Cast) -> None:
    tokens = connect(cast.teammate, cast.space.id)
    Membership.objects.filter(user_id=cast.teammate.user_id).update(role="viewer")
    assert authenticate(bearer(tokens), address="", resource=MCP).role == "viewer"


def test_what_happened_is_among_the_events(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    client.post("/oauth/revoke", token=tokens["access_token"])
    grant = Grant.objects.get()
    with tenant(cast.account.id):
        told = Event.objects.filter(object_id=f"grt_{grant.id.hex}").order_by("id")
        assert list(told.values_list("type", "actor")) == [
            ("grant.connected", f"grant:{grant.id}"),
            ("grant.revoked", f"grant:{grant.id}"),
        ]


def test_a_client_that_comes_for_more_drops_what_it_had(cast: Cast) -> None:
    client = visitor()
    first = connect(cast.teammate, cast.space.id, client)
    second = connect(cast.teammate, cast.space.id, client, scope="memory:read memory:write memory:delete")
    assert (holds(first), holds(second)) == (False, True)
    assert Grant.objects.live().count() == 1
