from typing import Any

import pytest
import time_machine

from accounts.actor import system_actor
from accounts.domain.accounts import add_member, create_account, person_actor
from accounts.domain.addresses import is_proven, letter_mark
from accounts.domain.invitations import accept_invitation, access_invitation, invite, join
from accounts.domain.members import change_role
from accounts.models import AgentKey, Event, Invitation, Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import Forbidden, NotFound, ValidationFailed
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast, make_key
from tests.memoryhub.common.test_naming import DECEPTIVE

pytestmark = pytest.mark.usefixtures("inside")

PASSWORD = "a long enough phrase"


def accept(token: str, email: str = "new@acme.example", password: str = PASSWORD, **told: str) -> User:
    user = accept_invitation(token, **{"email": email, "name": "New Person", "password": password, **told})
    assert user
    return user


def test_an_invitation_makes_the_person_and_their_membership(cast: Cast) -> None:
    made = invite(cast.owner, Role.APPROVER)
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


@pytest.mark.parametrize("role", [Role.OWNER, Role.APPROVER])
@pytest.mark.parametrize("email", ["", "mine@elsewhere.example"])
def test_an_admin_invites_nobody_who_decides(cast: Cast, role: Role, email: str) -> None:
    """It could be themselves, under another address or behind a bare link."""
    with pytest.raises(Forbidden):
        invite(cast.admin, role, email=email)


@pytest.mark.parametrize("now", ["removed", "demoted", "shut out"])
def test_a_link_opens_nothing_once_its_maker_may_not_invite(cast: Cast, now: str) -> None:
    """However the maker lost it: here behind the back of what withdraws invitations."""
    token = invite(cast.admin, Role.MEMBER).token
    maker = Membership.objects.filter(user_id=cast.admin.user_id)
    if now == "removed":
        maker.delete()
    elif now == "demoted":
        maker.update(role=Role.APPROVER)
    else:
        User.objects.filter(id=cast.admin.user_id).update(is_active=False)
    with pytest.raises(NotFound):
        access_invitation(token)
    with pytest.raises(NotFound):
        accept(token)
    with pytest.raises(NotFound):
        join(token, User.objects.get(id=cast.outsider_person.user_id))
    assert not User.objects.filter(email="new@acme.example").exists()


def test_a_smaller_role_withdraws_what_it_may_not_invite_to(cast: Cast) -> None:
    second = User.objects.create_user("second@acme.example", PASSWORD)
    add_member(cast.account.id, second, Role.OWNER)
    by_second = person_actor(second, cast.account.slug)
    for role in (Role.OWNER, Role.MEMBER):
        invite(by_second, role)
    invite(cast.owner, Role.OWNER)
    change_role(cast.owner, second.id, Role.ADMIN)
    assert list(Invitation.objects.filter(invited_by=second).values_list("role", flat=True)) == ["member"]
    change_role(cast.owner, second.id, Role.VIEWER)
    assert [invitation.invited_by_id for invitation in Invitation.objects.all()] == [cast.owner.user_id]
    assert Event.objects.filter(type="member.invitation_withdrawn").count() == 2


def test_what_the_operator_invited_to_stands_without_a_maker(cast: Cast) -> None:
    token = invite(system_actor(cast.account.id), Role.OWNER).token
    assert person_actor(accept(token), cast.account.slug).role is Role.OWNER


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("email", {"email": "not an address"}),
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
    token = invite(system_actor(cast.account.id), Role.OWNER).token
    with pytest.raises(ValidationFailed) as caught:
        accept(token, **fields)
    assert list(caught.value.fields) == [field]
    assert access_invitation(token)


def test_the_first_owner_takes_over_the_keys_made_before_there_was_one(cast: Cast) -> None:
    Membership.objects.filter(account=cast.account).delete()
    key, _ = make_key(system_actor(cast.account.id), cast.space)
    user = accept(invite(system_actor(cast.account.id), Role.OWNER).token)
    assert AgentKey.objects.get(id=key.key_id).created_by == user
    assert Membership.objects.get(user=user).role == Role.OWNER


def test_a_later_owner_takes_over_no_key_of_the_operator(cast: Cast) -> None:
    """Its secret would act as them from then on, and nobody gave them that."""
    key, _ = make_key(system_actor(cast.account.id), cast.space)
    for maker in (cast.owner, system_actor(cast.account.id)):
        accept(invite(maker, Role.OWNER).token, f"{maker.kind}@acme.example")
        assert AgentKey.objects.get(id=key.key_id).created_by is None
    join(invite(cast.owner, Role.OWNER).token, User.objects.get(id=cast.outsider_person.user_id))
    assert AgentKey.objects.get(id=key.key_id).created_by is None


@pytest.mark.parametrize("email", ["", "owner@globex.example"])
def test_a_link_that_was_used_with_a_known_address_is_for_its_person_alone(cast: Cast, email: str) -> None:
    token, person = invite(cast.owner, Role.VIEWER, email=email).token, cast.outsider_person.user_id
    known = {"email": "OWNER@globex.example", "name": "Somebody", "password": PASSWORD}
    assert accept_invitation(token, **known) is None
    for address in ("owner@globex.example", "new@acme.example"):
        with pytest.raises(NotFound):
            accept(token, address)
    with pytest.raises(NotFound):
        access_invitation(token)
    with pytest.raises(NotFound):
        join(token, User.objects.get(id=cast.viewer.user_id))
    user = User.objects.get(id=person)
    assert not user.check_password(PASSWORD)
    assert user.name != "Somebody"
    join(token, user)
    assert person_actor(user, cast.account.slug).role is Role.VIEWER


@pytest.mark.parametrize("password", ["short", "1234567890"])
def test_a_bad_answer_is_told_before_anything_asks_whether_the_address_is_known(
    cast: Cast, password: str
) -> None:
    token = invite(cast.owner, Role.MEMBER).token
    told = []
    for address in ("owner@globex.example", "nobody@globex.example"):
        with pytest.raises(ValidationFailed) as caught:
            accept(token, address, password)
        told.append(caught.value.fields)
    assert told[0] == told[1]


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
    assert user
    assert is_proven(user)


@pytest.mark.parametrize("mark", ["", "0" * 32, "of another letter", "ü"])
def test_what_did_not_stand_in_this_letter_proves_nothing(cast: Cast, mark: str) -> None:
    made = invite(cast.admin, Role.MEMBER, email="new@acme.example")
    if mark == "of another letter":
        mark = letter_mark(invite(cast.admin, Role.MEMBER, email="other@acme.example").invitation)
    user = accept_invitation(made.token, email="new@acme.example", name="New", password=PASSWORD, letter=mark)
    assert user
    assert not is_proven(user)


def test_an_open_link_proves_no_address_whatever_comes_with_it(cast: Cast) -> None:
    made = invite(cast.admin, Role.MEMBER)
    mark = letter_mark(made.invitation)
    user = accept_invitation(made.token, email="new@acme.example", name="New", password=PASSWORD, letter=mark)
    assert user
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
