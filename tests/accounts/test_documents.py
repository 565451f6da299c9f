"""Clients that are known by a document elsewhere: what is fetched, from where, and what may be in it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from accounts.models import Application
from tests.clients.person import listening
from tests.conftest import Cast
from tests.oauth import CALLBACK, Visitor, browser_for, connect
from tests.pages import text_of
from tests.receiver import knocks

pytestmark = pytest.mark.django_db

INSIDE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "localhost", "[::1]", "[::]", "0.0.0.0",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1",
    "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "[fc00::1]",
    "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "[ff02::1]", "192.0.0.1",
]  # fmt: skip


@pytest.fixture
def knocking() -> Iterator[tuple[int, list[Any]]]:
    with knocks() as come:
        yield come


def test_nothing_inside_is_ever_asked(knocking: tuple[int, list[Any]]) -> None:
    port, came = knocking
    for host in INSIDE:
        answer = Visitor(f"https://{host}:{port}/client.json").exchange("x")
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client"), host
    assert came == []
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "http://clients.example/client.json",
        "https://clients.example",
        "https://user@clients.example/client.json",
        "https://clients.example/client.json#part",
        "https://clients.example/../client.json",
        "https://clients.example:99999/client.json",
        "https:///client.json",
        "ftp://clients.example/client.json",
        "https://[::1/client.json",
    ],
)
def test_what_is_no_address_of_a_document_is_nobody(address: str) -> None:
    assert Visitor(address).exchange("x").json()["error"] == "invalid_client"


def test_documents_are_fetched_no_more_often_than_clients_may_register(settings: Any) -> None:
    settings.OAUTH_REGISTRATIONS = 1
    settings.OAUTH2_PROVIDER = on_this_machine(settings)
    fetched: list[str] = []

    def answer(path: str) -> str:
        fetched.append(path)
        return "{}"

    with listening(answer) as port:
        for n in range(3):
            Visitor(f"https://clients.example:{port}/{n}.json").exchange("x")
    assert fetched == ["/0.json"]


def on_this_machine(settings: Any) -> dict[str, Any]:
    return {**settings.OAUTH2_PROVIDER, "CIMD_METADATA_FETCHER": "tests.clients.documents.Fetcher"}


def test_a_client_with_a_document_is_let_in_and_its_host_is_told(cast: Cast, settings: Any) -> None:
    settings.OAUTH2_PROVIDER = on_this_machine(settings)
    known: dict[str, Any] = {"redirect_uris": [CALLBACK], "client_name": "Documented"}
    with listening(lambda path: json.dumps(known)) as port:
        known["client_id"] = f"https://clients.example:{port}/client.json"
        client = Visitor(known["client_id"])
        shown = text_of(browser_for(cast.teammate).get(client.question()))
        assert "Documented" in shown
        assert "clients.example" in shown
        assert connect(cast.teammate, cast.space.id, client)["token_type"] == "Bearer"


@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "https://other.example/client.json"},
        {"client_id": None},
        {"client_secret": "x"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"redirect_uris": []},
        {"redirect_uris": ["http://client.example/cb"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["https://clіent.example/cb"]},
        {"grant_types": ["client_credentials"]},
        {"client_name": {"a": 1}},
        {"client_name": "x" * 20_000},
    ],
)
def test_a_document_that_says_what_can_not_be_is_nobodys(settings: Any, wrong: dict[str, Any]) -> None:
    settings.OAUTH2_PROVIDER = on_this_machine(settings)
    known: dict[str, Any] = {"redirect_uris": [CALLBACK], "client_name": "Documented"}
    with listening(lambda path: json.dumps(known)) as port:
        known |= {"client_id": f"https://clients.example:{port}/client.json"}
        client = Visitor(known["client_id"])
        assert client.exchange("x").json()["error"] == "invalid_grant"
        Application.objects.all().delete()
        cache.clear()
        known |= wrong
        assert client.exchange("x").json()["error"] == "invalid_client"
