from __future__ import annotations

import pytest

from accounts.actor import system_actor
from accounts.domain.credentials import authenticate
from accounts.domain.invitations import accept_invitation, access_invitation
from accounts.domain.keys import list_keys
from accounts.models import Account
from accounts.scopes import PRESETS, Role, Scope
from memoryhub.common.tenancy import tenant
from memoryhub.flows.first_run import FirstRun, ensure_first_run
from spaces.domain.access import access_space

pytestmark = pytest.mark.django_db


def begin() -> FirstRun:
    kept: list[FirstRun] = []
    first = ensure_first_run(kept.append)
    assert kept == [first]
    assert first is not None
    return first


def test_the_first_agent_may_do_what_an_agent_does_and_forget() -> None:
    first = begin()
    actor = authenticate({"authorization": f"Bearer {first.agent_key}"}, address="127.0.0.1")
    assert actor.account_id == first.account_id
    assert actor.scopes == PRESETS["agent"] | {Scope.MEMORY_DELETE}
    with tenant(first.account_id):
        assert access_space(actor).id == first.space_id


def test_the_link_makes_one_owner_who_then_owns_the_first_key() -> None:
    first = begin()
    assert access_invitation(first.owner_token).role == Role.OWNER
    owner = accept_invitation(
        first.owner_token, email="ada@example.com", name="Ada", password="correct horse battery"
    )
    assert owner
    with tenant(first.account_id):
        assert [key.created_by_id for key in list_keys(system_actor(first.account_id))] == [owner.id]


def test_a_second_first_run_makes_nothing() -> None:
    begin()
    assert ensure_first_run(lambda first: pytest.fail("kept again")) is None
    assert Account.objects.count() == 1


def test_a_team_whose_secrets_could_not_be_kept_does_not_exist() -> None:
    def full_disk(first: FirstRun) -> None:
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space left"):
        ensure_first_run(full_disk)
    assert not Account.objects.exists()
    begin()
