from uuid import UUID

import pytest

from accounts.actor import Actor
from accounts.domain.accounts import person_actor
from accounts.domain.members import change_role, list_members, roles_to_give
from accounts.models import Event, Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import Conflict, Forbidden, HubError, NotFound
from memoryhub.common.tenancy import tenant
from tests.calls import at_once
from tests.conftest import Cast


def role_of(cast: Cast, person: Actor) -> Role:
    return person_actor(User.objects.get(id=person.user_id), cast.account.slug).role


def id_of(person: Actor) -> UUID:
    assert person.user_id
    return person.user_id


@pytest.mark.usefixtures("inside")
def test_the_people_of_the_team_are_listed_with_owners_first(cast: Cast) -> None:
    assert [m.role for m in list_members(cast.viewer)] == ["owner", "admin", "approver", "member", "viewer"]


@pytest.mark.usefixtures("inside")
def test_a_changed_role_holds_at_once_and_is_an_event_without_a_name(cast: Cast) -> None:
    change_role(cast.admin, id_of(cast.teammate), Role.VIEWER)
    assert role_of(cast, cast.teammate) is Role.VIEWER
    event = Event.objects.get(type="member.role_changed")
    assert (event.object_id, event.summary) == (f"usr_{id_of(cast.teammate).hex}", "member to viewer")


@pytest.mark.usefixtures("inside")
def test_the_same_role_again_changes_nothing(cast: Cast) -> None:
    change_role(cast.owner, id_of(cast.owner), Role.OWNER)
    assert not Event.objects.filter(type="member.role_changed").exists()


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_only_owners_and_admins_change_roles(cast: Cast, who: str) -> None:
    with pytest.raises(Forbidden):
        change_role(getattr(cast, who), id_of(cast.viewer), Role.MEMBER)


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    ("whom", "role"),
    [
        ("owner", Role.MEMBER),
        ("teammate", Role.OWNER),
        ("teammate", Role.APPROVER),
        ("admin", Role.APPROVER),
        ("admin", Role.MEMBER),
    ],
)
def test_an_admin_touches_no_owner_makes_nobody_who_decides_and_gives_themselves_nothing(
    cast: Cast, whom: str, role: Role
) -> None:
    with pytest.raises(Forbidden):
        change_role(cast.admin, id_of(getattr(cast, whom)), role)


@pytest.mark.usefixtures("inside")
def test_what_may_be_given_is_told_before(cast: Cast) -> None:
    members = {m.role: m for m in list_members(cast.owner)}
    assert roles_to_give(cast.owner, members["owner"]) == list(Role)
    assert roles_to_give(cast.admin, members["member"]) == [Role.ADMIN, Role.MEMBER, Role.VIEWER]
    assert roles_to_give(cast.admin, members["approver"]) == [r for r in Role if r is not Role.OWNER]
    assert roles_to_give(cast.admin, members["owner"]) == roles_to_give(cast.admin, members["admin"]) == []
    assert roles_to_give(cast.viewer) == []


@pytest.mark.usefixtures("inside")
def test_an_admin_takes_the_power_to_decide_but_gives_it_to_nobody(cast: Cast) -> None:
    for role in (Role.APPROVER, Role.MEMBER):
        change_role(cast.admin, id_of(cast.approver), role)
        assert role_of(cast, cast.approver) is role
    with pytest.raises(Forbidden):
        change_role(cast.admin, id_of(cast.approver), Role.APPROVER)


@pytest.mark.usefixtures("inside")
def test_the_last_owner_stays_one(cast: Cast) -> None:
    with pytest.raises(Conflict, match="last owner"):
        change_role(cast.owner, id_of(cast.owner), Role.ADMIN)
    change_role(cast.owner, id_of(cast.admin), Role.OWNER)
    change_role(cast.owner, id_of(cast.owner), Role.ADMIN)
    assert role_of(cast, cast.owner) is Role.ADMIN


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_step_down_at_once_one_stays(cast: Cast) -> None:
    """Each of many rounds would leave the team without an owner if they only looked before they leapt."""
    both = [id_of(cast.owner), id_of(cast.admin)]
    for _ in range(5):
        Membership.objects.filter(account=cast.account, user_id__in=both).update(role=Role.OWNER)

        def step_down(number: int) -> None:
            with tenant(cast.account.id):
                change_role(cast.owner, both[number], Role.MEMBER)

        ends = at_once(2, step_down)
        assert [type(end) for end in ends if isinstance(end, HubError)] == [Conflict]
        assert Membership.objects.filter(account=cast.account, role=Role.OWNER).count() == 1


@pytest.mark.usefixtures("inside")
def test_people_of_other_teams_are_absent(cast: Cast) -> None:
    with pytest.raises(NotFound):
        change_role(cast.owner, id_of(cast.outsider_person), Role.VIEWER)
