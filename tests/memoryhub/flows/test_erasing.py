"""After a space or a person is erased, what they said is nowhere: a full dump of the database is read for it."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession

import memoryhub.tasks  # noqa: F401 (makes the handlers of jobs known)
from accounts.domain.accounts import add_member, person_actor
from accounts.domain.invitations import invite
from accounts.domain.keys import create_key
from accounts.models import AgentKey, Event, Invitation, Membership, User
from accounts.scopes import PRESETS, Role
from actions.domain.notices.webhooks import Wish, create_webhook
from actions.domain.policies.rules import Draft, create_policy
from actions.domain.transitions import approve_action
from memoryhub.common.errors import Conflict, Forbidden, HubError, NotFound, ValidationFailed
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from memoryhub.flows.erasing import erase_member, erase_space, preview_member, preview_space
from memoryhub.flows.forgetting import forget
from memoryhub.flows.transfers import run_transfers, start_export, start_import, take_export
from spaces.domain.kinds import all_kinds
from spaces.domain.memories import find_memories, remember
from spaces.domain.spaces import create_space
from spaces.models import Memory, Space, Transfer, TransferPart
from tests.actions.stage import propose
from tests.conftest import Cast
from tests.memoryhub.flows.planting import dumped, plant, tables_with

pytestmark = pytest.mark.django_db(transaction=True)

PLANTED = "heliotropezebra"
SAID = f"Likes {PLANTED}.".encode()
HELD_IN = {
    "spaces_space", "spaces_memory", "spaces_memoryversion", "spaces_record",
    "spaces_recordversion", "spaces_journalentry", "spaces_journalversion", "spaces_value",
    "spaces_plan", "spaces_planversion", "spaces_summary", "spaces_transaction",
    "spaces_reminder", "spaces_capture", "spaces_dreamrun", "spaces_dreamchange",
    "spaces_transfer", "actions_policy", "actions_actionrevision", "actions_webhook",
}  # fmt: skip


@pytest.fixture
def doomed(cast: Cast) -> Space:
    """A space with the word in every kind of thing, in earlier versions, in an export that lies ready."""
    with tenant(cast.account.id):
        space = create_space(cast.owner, name="Doomed", description=PLANTED)
        plant(cast, space, PLANTED)
        agent = cast.agent.in_space("doomed")
        action = propose(agent, summary=PLANTED, payload={"text": PLANTED}).action
        approve_action(cast.owner.in_space("doomed"), action.uid, digest=action.current.digest)
        rule = Draft(PLANTED, "require", "pay.out", {"payload": {PLANTED: PLANTED}})
        create_policy(cast.owner.in_space("doomed"), rule)
        create_webhook(cast.owner, Wish(PLANTED, "https://ci.example/", ["action.done"], space="doomed"))
        start_import(cast.owner, space, iter([SAID]), name=f"{PLANTED}.txt", part="", limit=1_000)
        start_export(cast.owner, space)
    run_transfers()
    return space


def test_a_space_is_erased_with_every_word_in_it(cast: Cast, doomed: Space) -> None:
    assert tables_with(PLANTED) >= HELD_IN
    with tenant(cast.account.id):
        remember(cast.agent, text="What the others know")
        shown = preview_space(cast.owner, "doomed")
        receipt = erase_space(cast.owner, space="doomed", typed="doomed")
    assert receipt == shown
    assert receipt.counts.keys() == {kind.name for kind in all_kinds() if kind.prefix != "evt"}
    left = dumped()
    assert PLANTED not in left
    assert "What the others know" in left
    with tenant(cast.account.id):
        told = Event.objects.get(type="space.erased")
        assert (told.object_id, told.summary) == (receipt.id, f"{receipt.total} rows")
        with pytest.raises(NotFound):
            preview_space(cast.owner, "doomed")


@pytest.mark.parametrize(("who", "typed", "error"), [
    ("owner", "Doomed!", ValidationFailed),
    ("admin", "doomed", Forbidden),
    ("teammate", "doomed", Forbidden),
    ("agent", "doomed", Forbidden),
])  # fmt: skip
def test_without_the_role_and_the_typed_name_nothing_is_erased(
    cast: Cast, doomed: Space, who: str, typed: str, error: type[HubError]
) -> None:
    with tenant(cast.account.id):
        with pytest.raises(error):
            erase_space(getattr(cast, who), space="doomed", typed=typed)
        assert Space.objects.filter(slug="doomed").exists()


def test_the_only_space_stays(cast: Cast) -> None:
    with tenant(cast.account.id), pytest.raises(Conflict):
        erase_space(cast.owner, space="main", typed="main")


def test_live_rows_fill_the_place_of_what_was_forgotten_in_results(cast: Cast) -> None:
    with tenant(cast.account.id):
        for n in range(5):
            remember(cast.agent, text=f"Crane number {n}")
        before = find_memories(cast.agent, "crane", limit=3).page.items
        forget(cast.agent, ids=[f"mem_{m.id.hex}" for m in before[:2]])
        after = find_memories(cast.agent, "crane", limit=3).page.items
    assert len(after) == 3
    assert not {m.id for m in before[:2]} & {m.id for m in after}


# People


@pytest.fixture
def leaving(cast: Cast) -> Any:
    user = User.objects.create_user(f"{PLANTED}@acme.example", "correct horse battery", name=f"Ana {PLANTED}")
    with tenant(cast.account.id):
        invite(cast.owner, Role.MEMBER, email=user.email)
        add_member(cast.account.id, user, Role.MEMBER)
        person = person_actor(user, cast.account.slug)
        scopes = sorted(PRESETS["reader"])
        create_key(person, name=f"{PLANTED}s key", scopes=scopes, default_space_id=cast.space.id)
        remember(person, text="What they wrote is the team's")
    return user


def test_a_person_is_erased_and_what_they_wrote_stays(cast: Cast, leaving: User) -> None:
    assert PLANTED in dumped()
    with tenant(cast.account.id):
        shown = preview_member(cast.owner, leaving.id)
        assert shown.counts == {"membership": 1, "key": 1, "invitation": 1, "account of the person": 1}
        with pytest.raises(ValidationFailed):
            erase_member(cast.owner, leaving.id, typed="somebody@else.example")
        assert erase_member(cast.owner, leaving.id, typed=leaving.email) == shown
        assert Memory.objects.filter(text="What they wrote is the team's").exists()
        assert Event.objects.filter(type="member.erased").count() == 1
    assert PLANTED not in dumped()
    assert not Membership.objects.filter(user_id=leaving.id).exists()
    assert not User.objects.get(id=leaving.id).is_active


def test_who_is_in_another_team_keeps_their_account_there(cast: Cast, leaving: User) -> None:
    add_member(cast.outsider.account_id, leaving, Role.MEMBER)
    with tenant(cast.account.id):
        receipt = erase_member(cast.admin, leaving.id, typed=leaving.email)
    assert "account of the person" not in receipt.counts
    assert User.objects.get(id=leaving.id).is_active
    assert not AgentKey.objects.filter(account=cast.account, created_by=leaving).exists()


def test_the_last_owner_and_strangers_are_not_erased(cast: Cast, leaving: User) -> None:
    owner = User.objects.get(id=cast.owner.user_id)
    with tenant(cast.account.id):
        with pytest.raises(Forbidden):
            erase_member(cast.admin, owner.id, typed=owner.email)
        with pytest.raises(Conflict):
            erase_member(cast.owner, owner.id, typed=owner.email)
        for stranger in (cast.outsider_person.user_id, new_id()):
            assert stranger
            with pytest.raises(NotFound):
                preview_member(cast.owner, stranger)
        for who in (cast.teammate, cast.viewer, cast.approver):
            with pytest.raises(Forbidden):
                erase_member(who, leaving.id, typed=leaving.email)


def test_what_an_erased_person_had_invited_to_is_withdrawn(cast: Cast) -> None:
    with tenant(cast.account.id):
        invite(cast.admin, Role.ADMIN)
        assert cast.admin.user_id
        shown = preview_member(cast.owner, cast.admin.user_id)
        assert shown.counts["invitation"] == 1
        assert erase_member(cast.owner, cast.admin.user_id, typed="admin@acme.example") == shown
        assert not Invitation.objects.exists()
        assert Event.objects.filter(type="member.invitation_withdrawn").count() == 1


def test_an_erased_persons_exports_are_gone_with_what_they_sign_in_with(cast: Cast) -> None:
    with tenant(cast.account.id):
        waiting = start_export(cast.admin, cast.space)
        TransferPart.objects.create(account=cast.account, transfer=waiting, number=0, data=b"everything")
        Transfer.objects.update(state="ready")
        Authenticator.objects.create(
            user_id=cast.admin.user_id, type="webauthn", data={"name": "Their phone"}
        )
        session = {"session_key": "gone", "ip": "192.0.2.9", "data": {}}
        UserSession.objects.create(user_id=cast.admin.user_id, user_agent="Their browser", **session)
        shown = preview_member(cast.owner, cast.admin.user_id or "")
        assert shown.counts["export or import"] == 1
        assert erase_member(cast.owner, cast.admin.user_id or "", typed="admin@acme.example") == shown
        assert not TransferPart.objects.exists()
        assert Transfer.objects.get().state == "cancelled"
        with pytest.raises(NotFound):
            take_export(cast.admin, str(waiting.id))
    assert not Authenticator.objects.exists()
    assert not UserSession.objects.exists()
