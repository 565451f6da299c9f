"""The web process as its server sees it."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from accounts.actor import Actor
from accounts.domain.keys import create_key
from accounts.models import User
from accounts.scopes import Scope
from memoryhub.asgi import build_application, most_of
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


class Server:
    """Plays the server's part: what it sends, and what it got."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.got: list[dict[str, Any]] = []

    async def receive(self) -> Any:
        """A server that has nothing more to say keeps whoever asks waiting."""
        return self.messages.pop(0) if self.messages else await asyncio.Event().wait()

    async def send(self, message: dict[str, Any]) -> None:
        self.got.append(message)


def serve(scope: dict[str, Any], *messages: dict[str, Any]) -> list[dict[str, Any]]:
    server = Server(*messages)
    asyncio.run(build_application()(scope, server.receive, server.send))
    return server.got


def test_nothing_is_served_while_keys_are_hashed_with_the_secret_of_something_else(settings: Any) -> None:
    settings.KEY_PEPPER = settings.SECRET_KEY
    with pytest.raises(ImproperlyConfigured, match="Set KEY_PEPPER"):
        build_application()


def test_the_lifespan_begins_and_ends() -> None:
    got = serve({"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [message["type"] for message in got] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_socket_at_an_address_that_serves_none_is_closed() -> None:
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver")]
    got = serve(
        {"type": "websocket", "path": "/ws/nowhere", "headers": headers}, {"type": "websocket.connect"}
    )
    assert got == [{"type": "websocket.close", "code": 4404}]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/hub", "/mcp/unheard-of", "/mcp/ledger"])
def test_agents_paths_go_to_the_endpoint(path: str) -> None:
    """Seen by a Host that isn't ours: the endpoint calls the request misdirected, Django a bad one."""
    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"host", b"evil.example")]}
    (start, _) = serve(scope)
    assert start["status"] == 421


def most(cast: Cast, path: str, headers: dict[str, str]) -> int:
    sent = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "headers": sent, "client": ("127.0.0.1", 1)}
    return asyncio.run(most_of(scope))


def signed_in(person: Actor) -> dict[str, str]:
    browser = Client()
    browser.force_login(User.objects.get(id=person.user_id), BACKEND)
    return {"cookie": f"{settings.SESSION_COOKIE_NAME}={browser.session.session_key}"}


def by_key(cast: Cast, *scopes: Scope) -> dict[str, str]:
    with tenant(cast.account.id):
        made = create_key(
            cast.owner, name="x", scopes=[str(s) for s in scopes], default_space_id=cast.space.id
        )
    return {"authorization": f"Bearer {made.secret}"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "large"),
    [
        ("/v1/import", False),
        ("/a/acme/main/data/", True),
        ("/a/elsewhere/main/data/", False),
        ("/a/acme/main/data/x/import/", False),
        ("/a/acme/main/plans/new/", False),
        ("/accounts/login/", False),
        ("/oauth/register", False),
        ("/v1/import/x", False),
        ("/", False),
    ],
)
def test_only_what_takes_files_is_sent_more_than_a_form(cast: Cast, path: str, large: bool) -> None:
    sent = most(cast, path, signed_in(cast.owner))
    assert (sent > settings.BODY_LIMIT) is large
    assert (sent > settings.IMPORT_BYTES) is large


@pytest.mark.django_db(transaction=True)
def test_nothing_large_is_kept_for_keys_that_may_not_import(cast: Cast) -> None:
    """All of it goes onto the disk before the operation looks at who they are."""
    refused: list[dict[str, str]] = [
        {},
        {"authorization": "Bearer mh_live_nobody"},
        by_key(cast, Scope.MEMORY_WRITE),
    ]
    assert [most(cast, "/v1/import", sent) for sent in refused] == [settings.BODY_LIMIT] * len(refused)
    assert most(cast, "/v1/import", by_key(cast, Scope.SPACE_ADMIN)) > settings.IMPORT_BYTES


@pytest.mark.django_db(transaction=True)
def test_nothing_large_is_kept_for_people_who_do_not_manage_the_team(cast: Cast) -> None:
    ended = signed_in(cast.owner)
    Session.objects.all().delete()
    refused = [
        {},
        ended,
        {"cookie": f"{settings.SESSION_COOKIE_NAME}=unknown"},
        *map(signed_in, (cast.approver, cast.teammate, cast.viewer, cast.outsider)),
        by_key(cast, Scope.SPACE_ADMIN),
    ]
    page = "/a/acme/main/data/"
    assert [most(cast, page, sent) for sent in refused] == [settings.BODY_LIMIT] * len(refused)
    assert most(cast, page, signed_in(cast.admin)) > settings.IMPORT_BYTES
