"""The cast: an account with its people and their keys, and an outsider from another one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.core.cache import cache
from hypothesis import settings

from accounts.actor import Actor, system_actor
from accounts.domain.accounts import add_member, create_account, person_actor
from accounts.domain.addresses import prove_address
from accounts.domain.keys import create_key
from accounts.models import Account, User
from accounts.scopes import EVERY_SCOPE, KEY_MAKERS, Role
from memoryhub.common.tenancy import tenant
from spaces.domain.spaces import create_space
from spaces.models import Space
from tests.database import become_app, become_owner

pytest_plugins = ["tests.ending", "tests.live", "tests.inprocess", "tests.pooling", "tests.vendors.fixtures"]

# The same examples everywhere, and none fails for being slow on a busy machine.
settings.register_profile("hub", deadline=None, derandomize=True)
settings.load_profile("hub")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        become_app()
    yield
    with django_db_blocker.unblock():
        become_owner()


@dataclass(frozen=True)
class Cast:
    """Team `acme` with space `main`, and team `globex` with the outsider and a space of the same slug."""

    account: Account
    space: Space
    owner: Actor
    admin: Actor
    approver: Actor
    teammate: Actor
    viewer: Actor
    agent: Actor
    outsider: Actor
    outsider_person: Actor
    outsider_space: Space

    def key(self, **changes: Any) -> Actor:
        return replace(self.agent, **changes)


def make_person(account: Account, role: Role) -> Actor:
    user = User.objects.create_user(
        f"{role}@{account.slug}.example", "correct horse battery", name=role.title()
    )
    prove_address(user)
    add_member(account.id, user, role)
    return person_actor(user, account.slug)


def key_maker(person: Actor) -> Actor:
    return person if person.role in KEY_MAKERS else replace(person, role=Role.MEMBER)


def make_key(person: Actor, space: Space, **fields: Any) -> tuple[Actor, str]:
    """An agent's actor with every scope unless told otherwise, and the secret of its key.

    Of a person whose role makes no keys, it is one made before they got that role.
    """
    fields = {"name": "agent", "scopes": [str(s) for s in EVERY_SCOPE], **fields}
    with tenant(person.account_id):
        made = create_key(key_maker(person), default_space_id=space.id, **fields)
    actor = replace(
        person,
        kind="key",
        key_id=made.key.id,
        scopes=frozenset(EVERY_SCOPE),
        default_space_id=space.id,
    )
    return actor, made.secret


def make_team(name: str) -> tuple[Account, Space]:
    account = create_account(name)
    with tenant(account.id):
        space = create_space(system_actor(account.id), name="Main", slug="main")
    return account, space


@pytest.fixture
def cast(db: None) -> Cast:
    account, space = make_team("Acme")
    other, other_space = make_team("Globex")
    people = {role: make_person(account, role) for role in Role}
    agent, _ = make_key(people[Role.MEMBER], space)
    outsider_person = make_person(other, Role.OWNER)
    outsider, _ = make_key(outsider_person, other_space)
    return Cast(
        account=account,
        space=space,
        owner=people[Role.OWNER],
        admin=people[Role.ADMIN],
        approver=people[Role.APPROVER],
        teammate=people[Role.MEMBER],
        viewer=people[Role.VIEWER],
        agent=agent,
        outsider=outsider,
        outsider_person=outsider_person,
        outsider_space=other_space,
    )


@pytest.fixture
def inside(cast: Cast) -> Iterator[None]:
    """Runs the test inside the account of the cast, as an operation or a page would."""
    with tenant(cast.account.id):
        yield


@pytest.fixture(autouse=True)
def nothing_is_cached_from_one_test_to_the_next() -> Iterator[None]:
    yield
    cache.clear()
