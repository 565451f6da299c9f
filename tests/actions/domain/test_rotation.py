"""Sealing everything under a new key while others read and write."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from django.db import connection as database

from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection, list_connections, reseal_connections
from actions.domain.tokens import token_of
from memoryhub.common.keyring import KeyringFault, new_entry
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "a token of this test"
VENDORS = ("slack", "google", "github", "notion")


def connected(cast: Cast, vendor: str) -> None:
    with tenant(cast.account.id):
        add_connection(cast.owner, vendor, Tokens(TOKEN), Identity(ref="acme", name="Acme"))


def tokens(cast: Cast) -> set[str]:
    with tenant(cast.account.id):
        return {token_of(found) for found in list_connections(cast.owner)}


@contextmanager
def meanwhile(*works: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Each over and over in a thread of its own; the faults that they met."""
    over, faults = Event(), list[BaseException]()

    def load(work: Callable[[], object]) -> None:
        try:
            while not over.is_set():
                work()
        except BaseException as fault:
            faults.append(fault)
        finally:
            database.close()

    threads = [Thread(target=load, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield faults
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_a_rotation_under_load_fails_nobody_and_leaves_nothing_under_the_old_key(
    cast: Cast, settings
) -> None:
    for vendor in VENDORS:
        connected(cast, vendor)
    old, settings.KEYRING = settings.KEYRING, f"{new_entry()},{settings.KEYRING}"
    read, write = (lambda: tokens(cast)), (lambda: connected(cast, "github"))
    with meanwhile(read, read, write) as faults:
        resealed = sum(reseal_connections(cast.account.id) for _ in range(10))
    assert faults == []
    assert resealed >= len(VENDORS) - 1
    assert tokens(cast) == {TOKEN}
    settings.KEYRING = settings.KEYRING.removesuffix(f",{old}")
    assert tokens(cast) == {TOKEN}


def test_a_rotation_without_the_old_key_changes_nothing(cast: Cast, settings) -> None:
    connected(cast, "github")
    old, settings.KEYRING = settings.KEYRING, new_entry()
    with pytest.raises(KeyringFault, match="lacks the key"):
        reseal_connections(cast.account.id)
    settings.KEYRING = old
    assert tokens(cast) == {TOKEN}
