"""The switches that stop everything."""

import time

import pytest

from accounts.models import Account
from memoryhub.common.tenancy import tenant
from spaces.models import Space
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, freshly_signed_in

pytestmark = pytest.mark.django_db


def stopped(cast: Cast) -> tuple[bool, bool]:
    with tenant(cast.account.id):
        space, account = Space.objects.get(id=cast.space.id), Account.objects.get(id=cast.account.id)
    return space.actions_paused, account.actions_paused


def test_stopping_never_waits_for_a_password_and_going_on_does(cast: Cast) -> None:
    long_ago, fresh = browser_of(cast.approver), freshly_signed_in(cast.approver, time.time())
    switches = (f"{SPACE}/stop/", "/a/acme/connections/stop-all/")
    for address in switches:
        assert long_ago.post(address, {"paused": "yes"})["Location"] == "/a/acme/connections/"
    assert stopped(cast) == (True, True)
    for address in switches:
        assert "reauthenticate" in long_ago.post(address, {"paused": "no"})["Location"]
    assert stopped(cast) == (True, True)
    for address in switches:
        assert fresh.post(address, {"paused": "no"})["Location"] == "/a/acme/connections/"
    assert stopped(cast) == (False, False)
