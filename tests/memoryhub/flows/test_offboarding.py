"""Who is removed or gets a smaller role has lost it with the next request, on every path; what they wrote stays."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.domain.accounts import add_member
from accounts.domain.credentials import authenticate
from accounts.domain.invitations import invite
from accounts.domain.members import change_role
from accounts.models import AgentKey, Event, Invitation, User
from accounts.scopes import Role
from actions.domain.transitions import approve_action, transition_action
from memoryhub.common.errors import Conflict, Forbidden, NotFound, PreconditionFailed, Unauthorized
from memoryhub.flows.offboarding import Leaving, preview_leaving, remove_member
from memoryhub.flows.transfers import start_export
from spaces.domain.memories import remember
from spaces.models import Memory, SpaceMember, Transfer
from tests.actions.stage import propose
from tests.calls import Caller
from tests.conftest import Cast, make_key
from tests.pages import browser_of

pytestmark = pytest.mark.usefixtures("inside")


def leave(cast: Cast, who: str = "teammate") -> Leaving:
    return remove_member(cast.owner, str(getattr(cast, who).user_id))


def page(client: Client, address: str = "/a/acme/main/memories/") -> int:
    return client.get(address).status_code


def test_a_removed_person_has_no_pages_and_no_keys_from_the_next_request_on(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    client, caller = browser_of(cast.teammate), Caller(secret)
    assert (page(client), caller("GET", "whoami").status_code) == (200, 200)
    leave(cast)
    assert (page(client), caller("GET", "whoami").status_code) == (404, 401)
    with pytest.raises(Unauthorized):
        authenticate({"authorization": f"Bearer {secret}"}, address="192.0.2.1")


def test_who_comes_back_begins_anew(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    SpaceMember.objects.create(
        account=cast.account, space=cast.space, user_id=cast.teammate.user_id, role=Role.VIEWER
    )
    leave(cast)
    add_member(cast.account.id, User.objects.get(id=cast.teammate.user_id), Role.MEMBER)
    assert Caller(secret)("GET", "whoami").status_code == 401
    assert not SpaceMember.objects.exists()
    assert page(browser_of(cast.teammate)) == 200


def test_what_a_removed_person_wrote_stays(cast: Cast) -> None:
    written = remember(cast.teammate.in_space("main"), text="Tea is at four").memory
    leave(cast)
    assert Memory.objects.filter(id=written.id).exists()


def test_what_ends_is_told_before_and_is_written_down(cast: Cast) -> None:
    make_key(cast.admin, cast.space)
    start_export(cast.admin, cast.space)
    invite(cast.owner, Role.MEMBER, email="new@acme.example")
    told = preview_leaving(cast.owner, str(cast.admin.user_id))
    assert told == Leaving(keys=1, clients=0, space_roles=0, transfers=1, invitations=0)
    assert leave(cast, "admin") == told
    assert AgentKey.objects.get(created_by_id=cast.admin.user_id).revoked_at is not None
    assert set(Transfer.objects.values_list("state", flat=True)) == {"cancelled"}
    assert Invitation.objects.get().email == "new@acme.example"
    kinds = list(Event.objects.order_by("id").values_list("type", flat=True))[-2:]
    assert kinds == ["key.revoked", "member.removed"]


def test_the_last_owner_is_not_removed(cast: Cast) -> None:
    with pytest.raises(Conflict, match="last owner"):
        leave(cast, "owner")


@pytest.mark.parametrize(
    ("by", "whom"), [("admin", "owner"), ("approver", "viewer"), ("teammate", "viewer"), ("agent", "viewer")]
)
def test_who_may_not_remove_removes_nobody(cast: Cast, by: str, whom: str) -> None:
    with pytest.raises(Forbidden):
        remove_member(getattr(cast, by), str(getattr(cast, whom).user_id))


def test_people_of_other_teams_are_absent(cast: Cast) -> None:
    with pytest.raises(NotFound):
        remove_member(cast.owner, str(cast.outsider_person.user_id))


@pytest.mark.parametrize("lose", ["removed", "demoted"])
def test_an_approval_counts_no_more_once_its_giver_is_gone_or_may_not_decide(cast: Cast, lose: str) -> None:
    action = propose(cast.agent).action
    approve_action(cast.approver, action.uid, digest=action.current.digest)
    if lose == "removed":
        leave(cast, "approver")
    else:
        change_role(cast.owner, str(cast.approver.user_id), Role.MEMBER)
    with pytest.raises(PreconditionFailed, match="may no longer decide"):
        transition_action(cast.agent, action.uid, "approved", "executing")


def test_a_key_shrinks_with_its_maker(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    caller = Caller(secret)
    assert caller("POST", "memories", {"text": "Tea is at four"}).status_code == 201
    change_role(cast.admin, str(cast.teammate.user_id), Role.VIEWER)
    refused = caller("POST", "memories", {"text": "Tea is at five"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert caller("GET", "whoami").status_code == 200


def test_what_a_removed_person_had_invited_to_is_withdrawn(cast: Cast) -> None:
    made = invite(cast.admin, Role.ADMIN)
    other = invite(cast.owner, Role.ADMIN)
    assert preview_leaving(cast.owner, str(cast.admin.user_id)).invitations == 1
    assert leave(cast, "admin").invitations == 1
    assert Invitation.objects.get().id == other.invitation.id
    event = Event.objects.get(type="member.invitation_withdrawn")
    assert event.object_id == str(made.invitation.id)


def test_an_invitation_to_who_is_removed_ends_too(cast: Cast, settings: Any) -> None:
    made = invite(cast.owner, Role.MEMBER, email="later@acme.example")
    user = User.objects.create_user("later@acme.example", "correct horse battery")
    add_member(cast.account.id, user, Role.VIEWER)
    remove_member(cast.owner, str(user.id))
    assert not Invitation.objects.filter(id=made.invitation.id).exists()
    assert timezone.now() + timedelta(days=6) < made.invitation.expires_at
