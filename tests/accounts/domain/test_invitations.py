from typing import Any

import pytest
import time_machine

from accounts.actor import system_actor
from accounts.domain.accounts import create_account, person_actor
from accounts.domain.addresses import is_proven, letter_mark
from accounts.domain.invitations import accept_invitation, access_invitation, invite, join
from accounts.models import AgentKey, Invitation, Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast, make_key
from tests.memoryhub.common.test_naming import DECEPTIVE

pytestmark = pytest.mark.usefixtures("inside")

PASSWORD = "a long enough phrase"


def accept(token: str, email: str = "new@acme.example", password: str = PASSWORD, **told: str) -> User:
    return accept_invitation(token, **{"email": email, "name": "New Person", "password": password, **told})


def test_an_invitation_makes_the_person_and_their_membership(cast: Cast) -> None:
    made = invite(cast.admin, Role.APPROVER)
    user = accept(made.token)
    assert user.check_password(PASSWORD)
    assert person_actor(user, cast.account.slug).role is Role.APPROVER


def test_an_invitation_is_used_once(cast: Cast) -> None:
    token = invite(cast.admin, Role.MEMBER).token
    accept(token)
    with pytest.raises(NotFound):
        accept(token, "second@acme.example")
    assert not User.objects.filter(email="second@acme.example").exists()


def test_an_invitation_ends_after_seven_days(cast: Cast) -> None:
    with time_machine.travel("2026-11-01T00:00:00Z", tick=False):
        token = invite(cast.admin, Role.MEMBER).token
    with time_machine.travel("2026-11-07T23:59:59Z", tick=False):
        assert access_invitation(token).role == Role.MEMBER
    with time_machine.travel("2026-11-08T00:00:00Z", tick=False), pytest.raises(NotFound):
        access_invitation(token)


def test_the_links_secret_is_not_stored(cast: Cast) -> None:
    made = invite(cast.admin, Role.MEMBER)
    row = Invitation.objects.get(id=made.invitation.id)
    assert made.token.encode() not in bytes(row.token_hash)


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_only_owners_and_admins_invite(cast: Cast, who: str) -> None:
    with pytest.raises(Forbidden):
        invite(getattr(cast, who), Role.VIEWER)


def test_an_admin_invites_no_owner(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        invite(cast.admin, Role.OWNER)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("email", {"email": "not an address"}),
        ("email", {"email": "OWNER@acme.example"}),
        ("email", {"email": "ann@\u0430cme.example"}),
        ("name", {"name": ""}),
        *(("name", {"name": name}) for name in DECEPTIVE),
        ("team", {"team": "Ac\u202eme"}),
        ("password", {"password": "short"}),
        ("password", {"password": "1234567890"}),
    ],
)
def test_a_bad_answer_names_its_field_and_leaves_the_link_open(
    cast: Cast, field: str, fields: dict[str, str]
) -> None:
    Membership.objects.filter(account=cast.account).delete() if "team" in fields else None
    token = invite(cast.owner, Role.OWNER).token
    with pytest.raises(ValidationFailed) as caught:
        accept(token, **fields)
    assert list(caught.value.fields) == [field]
    assert access_invitation(token)


def test_the_first_owner_takes_over_the_keys_made_before_there_was_one(cast: Cast) -> None:
    key, _ = make_key(system_actor(cast.account.id), cast.space)
    user = accept(invite(system_actor(cast.account.id), Role.OWNER).token)
    assert AgentKey.objects.get(id=key.key_id).created_by == user
    assert Membership.objects.get(user=user).role == Role.OWNER


def test_an_address_is_proven_by_what_stands_in_the_letter_alone(cast: Cast) -> None:
    """Who invites has the link as well, and could come by it."""
    by_link, by_letter = (
        invite(cast.admin, Role.MEMBER, email=f"{name}@acme.example") for name in ("link", "letter")
    )
    assert not is_proven(accept(by_link.token, "link@acme.example"))
    mark = letter_mark(by_letter.invitation)
    user = accept_invitation(
        by_letter.token, email="letter@acme.example", name="New", password=PASSWORD, letter=mark
    )
    assert is_proven(user)


@pytest.mark.parametrize("mark", ["", "0" * 32, "of another letter", "ü"])
def test_what_did_not_stand_in_this_letter_proves_nothing(cast: Cast, mark: str) -> None:
    made = invite(cast.admin, Role.MEMBER, email="new@acme.example")
    if mark == "of another letter":
        mark = letter_mark(invite(cast.admin, Role.MEMBER, email="other@acme.example").invitation)
    user = accept_invitation(made.token, email="new@acme.example", name="New", password=PASSWORD, letter=mark)
    assert not is_proven(user)


def test_an_open_link_proves_no_address_whatever_comes_with_it(cast: Cast) -> None:
    made = invite(cast.admin, Role.MEMBER)
    mark = letter_mark(made.invitation)
    user = accept_invitation(made.token, email="new@acme.example", name="New", password=PASSWORD, letter=mark)
    assert not is_proven(user)


def test_an_invitation_finds_nobody_by_an_address_that_they_only_say_is_theirs(cast: Cast) -> None:
    pretender = accept(invite(cast.admin, Role.MEMBER).token, "victim@corp.example")
    with tenant(cast.outsider.account_id):
        made = invite(cast.outsider_person, Role.MEMBER, email="victim@corp.example")
        with pytest.raises(Forbidden):
            join(made.token, pretender)
        assert not Membership.objects.filter(account_id=cast.outsider.account_id, user=pretender).exists()
        assert access_invitation(made.token)
        join(made.token, pretender, letter=letter_mark(made.invitation))
    assert is_proven(pretender)


@pytest.mark.parametrize(("server", "proven"), [("console", True), ("locmem", False)])
def test_the_first_owner_needs_no_letter_where_none_can_be_sent(
    settings: Any, server: str, proven: bool, db: None
) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{server}.EmailBackend"
    account = create_account("New")
    with tenant(account.id):
        token = invite(system_actor(account.id), Role.OWNER).token
    assert is_proven(accept(token)) is proven
