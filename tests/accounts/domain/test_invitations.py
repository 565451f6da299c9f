import pytest
import time_machine

from accounts.actor import system_actor
from accounts.domain.accounts import person_actor
from accounts.domain.invitations import accept_invitation, access_invitation, invite
from accounts.models import AgentKey, Invitation, Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.usefixtures("inside")

PASSWORD = "a long enough phrase"


def accept(token: str, email: str = "new@acme.example", password: str = PASSWORD) -> User:
    return accept_invitation(token, email=email, name="New Person", password=password)


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
        ("password", {"password": "short"}),
        ("password", {"password": "1234567890"}),
    ],
)
def test_a_bad_answer_names_its_field_and_leaves_the_link_open(
    cast: Cast, field: str, fields: dict[str, str]
) -> None:
    token = invite(cast.admin, Role.MEMBER).token
    with pytest.raises(ValidationFailed) as caught:
        accept(token, **fields)
    assert list(caught.value.fields) == [field]
    assert access_invitation(token)


def test_the_first_owner_takes_over_the_keys_made_before_there_was_one(cast: Cast) -> None:
    key, _ = make_key(system_actor(cast.account.id), cast.space)
    user = accept(invite(system_actor(cast.account.id), Role.OWNER).token)
    assert AgentKey.objects.get(id=key.key_id).created_by == user
    assert Membership.objects.get(user=user).role == Role.OWNER
