"""Open pages hear of changes made in other connections, and only those who may."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.credentials import authenticate
from accounts.models import Membership, User
from accounts.scopes import Role
from actions import consumers
from actions.consumers import CHANGED, ENDED
from memoryhub.common import live
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.common.threads import in_db_thread
from memoryhub.routing import websocket_urlpatterns
from spaces.domain.members import set_space_role, set_visibility
from spaces.models import Space
from tests.actions.stage import approve, propose
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 20
LOOK_EVERY_SECONDS = consumers.LOOK_EVERY_SECONDS
HERE = "http://testserver"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "LOOK_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(live, "RECONNECT_SECONDS", 0.2)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 3 * PATIENCE))


def sign_in(person: Actor) -> Client:
    client = Client()
    client.force_login(User.objects.get(id=person.user_id))
    return client


def page(
    client: Client | None, place: str = "acme/main", origin: str | None = HERE, host: str = "testserver"
) -> WebsocketCommunicator:
    cookie = client.cookies.output(header="", sep=";").strip() if client else ""
    headers = [(b"host", host.encode()), (b"cookie", cookie.encode())]
    if origin:
        headers.append((b"origin", origin.encode()))
    return WebsocketCommunicator(URLRouter(websocket_urlpatterns), f"/a/{place}/live", headers)


@asynccontextmanager
async def listening(socket: WebsocketCommunicator, version: int = 0) -> AsyncIterator[WebsocketCommunicator]:
    """Connected, and told of the version there is."""
    assert (await socket.connect(PATIENCE))[0]
    assert (await hear(socket))["version"] == version
    try:
        yield socket
    finally:
        await socket.disconnect(timeout=PATIENCE)


async def hear(socket: WebsocketCommunicator) -> dict[str, Any]:
    return await socket.receive_json_from(PATIENCE)


async def closing_code(socket: WebsocketCommunicator) -> int:
    said = await socket.receive_output(PATIENCE)
    assert said["type"] == "websocket.close"
    return said["code"]


def inside(cast: Cast, act: Callable[..., Any], *args: Any) -> Any:
    with tenant(cast.account.id):
        return act(*args)


def propose_and_approve(cast: Cast) -> None:
    approve(cast.owner, propose(cast.agent).action)


def test_a_page_hears_of_a_proposal_and_of_its_approval_by_their_version_alone(cast: Cast) -> None:
    client = sign_in(cast.owner)

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(inside, cast, propose, cast.agent)
            space = typed_id("spc", cast.space.id)
            assert await hear(socket) == {"space": space, "topic": "inbox", "version": 1}
            await in_db_thread(inside, cast, propose_and_approve, cast)
            assert (await hear(socket))["version"] in (2, 3)

    run(scenario())


def test_what_is_rolled_back_is_not_told(cast: Cast) -> None:
    client = sign_in(cast.owner)

    def propose_in_vain() -> None:
        with tenant(cast.account.id):
            live.publish(cast.account.id, None, live.KEYS, 7)
            propose(cast.agent)
            transaction.set_rollback(True)

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(propose_in_vain)
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["version"] == 1

    run(scenario())


def test_what_happened_while_the_listener_was_cut_off_is_made_up_for(cast: Cast) -> None:
    client = sign_in(cast.owner)

    def cut_off_and_propose() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = %s"
                " and datname = current_database()",
                [live.LISTENER],
            )
            assert set(cursor.fetchall()) == {(True,)}
        inside(cast, propose, cast.agent)

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["version"] == 1
            await in_db_thread(cut_off_and_propose)
            assert (await hear(socket))["version"] == 2

    run(scenario())


def test_notifications_of_others_are_dropped(cast: Cast) -> None:
    client = sign_in(cast.owner)

    def shout() -> None:
        with connection.cursor() as cursor:
            for payload in (
                "nonsense",
                "[]",
                "{}",
                '{"to": "live", "topic": "x"}',
                '{"to": 5, "topic": "x", "version": 1}',
            ):
                cursor.execute("select pg_notify(%s, %s)", [live.CHANNEL, payload])

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(shout)
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["version"] == 1

    run(scenario())


def test_pages_of_another_account_and_space_hear_nothing(cast: Cast) -> None:
    """The first that each hears is its own."""
    with tenant(cast.account.id):
        other = Space.objects.create(account=cast.account, name="Other", slug="other", inbox_version=40)
    with tenant(cast.outsider.account_id):
        Space.objects.update(inbox_version=90)
    ours, theirs = sign_in(cast.owner), sign_in(cast.outsider_person)

    def tell_all() -> None:
        inside(cast, propose, cast.agent)
        inside(cast, propose, make_key(cast.owner, other)[0])
        with tenant(cast.outsider.account_id):
            propose(cast.outsider)

    async def scenario() -> None:
        async with (
            listening(page(ours, "acme/other"), 40) as elsewhere,
            listening(page(theirs, "globex/main"), 90) as outside,
        ):
            await in_db_thread(tell_all)
            assert (await hear(elsewhere))["version"] == 41
            assert await hear(outside) == {
                "space": typed_id("spc", cast.outsider_space.id), "topic": "inbox", "version": 91,
            }  # fmt: skip

    run(scenario())


def test_the_first_call_of_a_key_is_told_to_the_whole_account_once(cast: Cast) -> None:
    _, secret = make_key(cast.owner, cast.space)
    client = sign_in(cast.owner)

    def call() -> None:
        authenticate({"x-api-key": secret}, address="")

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(call)
            assert (await hear(socket))["topic"] == "keys"
            await in_db_thread(call)
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["topic"] == "inbox"

    run(scenario())


def test_what_a_page_sends_is_ignored(cast: Cast) -> None:
    client = sign_in(cast.owner)

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await socket.send_to(text_data="{")
            await socket.send_to(bytes_data=b"\xff")
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["version"] == 1

    run(scenario())


def test_nobody_listens_who_could_not_read_the_page(cast: Cast) -> None:
    with tenant(cast.account.id):
        Space.objects.create(account=cast.account, name="Board", slug="board", visibility="members")
    owner, member, outsider = (sign_in(p) for p in (cast.owner, cast.teammate, cast.outsider_person))
    forged = Client()
    forged.cookies["memoryhub"] = "x" * 32
    refused = {
        "no session": page(None),
        "a forged session": page(forged),
        "another account": page(outsider),
        "no such account": page(owner, "nowhere/main"),
        "no such space": page(owner, "acme/nowhere"),
        "a space of others": page(member, "acme/board"),
        "no origin": page(owner, origin=None),
        "another site": page(owner, origin="https://evil.test"),
        "another port": page(owner, origin="http://testserver:9000"),
        "another scheme": page(owner, origin="https://testserver"),
        "a host that is not ours": page(owner, origin="http://evil.test", host="evil.test"),
        "a name like ours": page(owner, origin="http://testserver.evil.test"),
    }

    async def scenario() -> None:
        answers = {why: await socket.connect(PATIENCE) for why, socket in refused.items()}
        assert answers == dict.fromkeys(refused, (False, 1000))

    run(scenario())


def test_the_address_that_was_opened_is_an_origin_too(cast: Cast) -> None:
    client = sign_in(cast.owner)

    async def scenario() -> None:
        async with listening(page(client, origin="http://localhost:8765", host="localhost:8765")):
            pass

    run(scenario())


def sign_out(cast: Cast, client: Client) -> None:
    client.logout()


def change_password(cast: Cast, client: Client) -> None:
    user = User.objects.get(id=cast.approver.user_id)
    user.set_password("another battery staple")
    user.save()


def let_the_session_end(cast: Cast, client: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def remove(cast: Cast, client: Client) -> None:
    Membership.objects.filter(user_id=cast.approver.user_id).delete()


def lock_out(cast: Cast, client: Client) -> None:
    User.objects.filter(id=cast.approver.user_id).update(is_active=False)


def demote(cast: Cast, client: Client) -> None:
    Membership.objects.filter(user_id=cast.approver.user_id).update(role="viewer")


@pytest.mark.parametrize(
    ("lose", "code"),
    [
        (sign_out, ENDED),
        (change_password, ENDED),
        (let_the_session_end, ENDED),
        (remove, ENDED),
        (lock_out, ENDED),
        (demote, CHANGED),
    ],
)
def test_a_socket_closes_by_itself_when_its_right_ends(cast: Cast, lose: Any, code: int) -> None:
    client = sign_in(cast.approver)

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(inside, cast, propose, cast.agent)
            assert (await hear(socket))["version"] == 1  # from here on no hint is under way
            await in_db_thread(lose, cast, client)
            assert await closing_code(socket) == code

    run(scenario())


def test_a_space_that_closes_to_a_person_closes_the_socket_with_the_next_change(cast: Cast) -> None:
    client = sign_in(cast.teammate)

    def close_and_propose() -> None:
        Space.objects.update(visibility="members")
        propose(make_key(cast.owner, cast.space)[0])

    async def scenario() -> None:
        async with listening(page(client)) as socket:
            await in_db_thread(inside, cast, close_and_propose)
            assert await closing_code(socket) == ENDED

    run(scenario())


def test_a_role_in_the_space_that_changes_closes_what_it_no_longer_opens_at_once(cast: Cast) -> None:
    """Nothing else happens there: the hint of the change itself is enough."""
    client, other = sign_in(cast.teammate), sign_in(cast.approver)

    def close() -> None:
        set_space_role(cast.owner, str(cast.approver.user_id), Role.APPROVER, space="main")
        set_visibility(cast.owner, "members", space="main")

    async def scenario() -> None:
        async with listening(page(client)) as socket, listening(page(other)) as stays:
            await in_db_thread(inside, cast, close)
            assert await closing_code(socket) == ENDED
            assert (await hear(stays))["topic"] == "members"

    run(scenario())


def test_sockets_are_looked_after_often_enough_to_close_within_two_seconds() -> None:
    assert LOOK_EVERY_SECONDS <= 1
