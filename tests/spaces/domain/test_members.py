import pytest

from accounts.actor import Actor
from accounts.domain.members import access_member
from accounts.models import Event
from accounts.scopes import Right, Role
from memoryhub.common.errors import Conflict, Forbidden, HubError, NotFound, ValidationFailed
from spaces.domain.access import access_space
from spaces.domain.members import named_in, reach_of, set_space_role, set_visibility
from spaces.models import SpaceMember
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")
PEOPLE = ("owner", "admin", "approver", "teammate", "viewer")


def may(person: Actor, right: Right) -> bool:
    try:
        access_space(person, "main", right=right)
    except HubError:
        return False
    return True


@pytest.mark.parametrize("visibility", ["account", "members"])
@pytest.mark.parametrize("named", [None, *Role])
def test_what_is_explained_is_what_happens(cast: Cast, visibility: str, named: Role | None) -> None:
    """For each person, in each state of the space, and each right: the page says what the domain does."""
    set_visibility(cast.owner, visibility, space="main")
    for who in PEOPLE:
        person: Actor = getattr(cast, who)
        if named:
            SpaceMember.objects.create(
                account=cast.account, space=cast.space, user_id=person.user_id, role=named
            )
        [reach] = reach_of(
            access_member(cast.owner, str(person.user_id)), [cast.space.__class__.objects.get()]
        )
        assert {right for right in Right if may(person, right)} == set(reach.rights), who
        assert (reach.role is None) == (reach.because == "not_named")


def test_a_role_in_a_space_narrows_and_is_taken_off_again(cast: Cast) -> None:
    user = str(cast.approver.user_id)
    set_space_role(cast.admin, user, Role.VIEWER, space="main")
    assert (may(cast.approver, Right.READ), may(cast.approver, Right.DECIDE)) == (True, False)
    assert named_in(cast.space) == {cast.approver.user_id: Role.VIEWER}
    set_space_role(cast.admin, user, None, space="main")
    assert may(cast.approver, Right.DECIDE)
    told = Event.objects.filter(type="member.space_role_changed").order_by("id")
    assert [e.summary for e in told] == ["none to viewer", "viewer to none"]


def test_closing_a_space_shuts_out_who_is_not_named(cast: Cast) -> None:
    set_visibility(cast.owner, "members", space="main")
    assert [who for who in PEOPLE if may(getattr(cast, who), Right.READ)] == ["owner", "admin"]
    set_space_role(cast.owner, str(cast.viewer.user_id), Role.VIEWER, space="main")
    assert may(cast.viewer, Right.READ)


def test_owners_and_admins_are_not_narrowed(cast: Cast) -> None:
    with pytest.raises(Conflict):
        set_space_role(cast.owner, str(cast.admin.user_id), Role.VIEWER, space="main")


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_only_owners_and_admins_say_who_sees_what(cast: Cast, who: str) -> None:
    actor = getattr(cast, who)
    with pytest.raises(Forbidden):
        set_space_role(actor, str(cast.viewer.user_id), Role.MEMBER, space="main")
    with pytest.raises(Forbidden):
        set_visibility(actor, "members", space="main")


def test_people_of_other_teams_are_named_nowhere(cast: Cast) -> None:
    with pytest.raises(NotFound):
        set_space_role(cast.owner, str(cast.outsider_person.user_id), Role.VIEWER, space="main")


def test_a_space_is_open_or_closed(cast: Cast) -> None:
    with pytest.raises(ValidationFailed):
        set_visibility(cast.owner, "the world", space="main")
