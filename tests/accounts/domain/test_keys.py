from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.domain.credentials import authenticate
from accounts.domain.keys import create_key, hash_secret, is_well_formed, list_keys, make_secret, revoke_key
from accounts.models import AgentKey, Event, Membership, User
from accounts.scopes import PRESETS, Role, Scope
from memoryhub.common.errors import Forbidden, HubError, NotFound, Unauthorized, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast, make_key

pytestmark = pytest.mark.usefixtures("inside")


def bearer(secret: str, **headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}", **headers}


def test_a_secret_has_the_documented_form_and_a_checksum_that_finds_typing_errors() -> None:
    secret = make_secret()
    assert len(secret) == len("mh_live_") + 36
    assert is_well_formed(secret)
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert not is_well_formed(changed)


def test_only_a_peppered_hash_the_prefix_and_the_last_four_are_kept(cast: Cast) -> None:
    made = create_key(cast.owner, name="ci", default_space_id=cast.space.id, preset="agent")
    row = AgentKey.objects.get(id=made.key.id)
    assert bytes(row.secret_hash) == hash_secret(made.secret)
    assert (row.prefix, row.hint) == (made.secret[:12], made.secret[-4:])
    kept = " ".join(str(getattr(row, f.attname)) for f in AgentKey._meta.concrete_fields)
    assert made.secret not in kept


def test_a_key_lives_ninety_days_unless_told_otherwise(cast: Cast) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False):
        made = create_key(cast.owner, name="ci", default_space_id=None, preset="reader")
        assert made.key.expires_at == timezone.now() + timedelta(days=90)


def test_making_and_revoking_a_key_leave_events_without_the_secret(cast: Cast) -> None:
    made = create_key(cast.owner, name="ci", default_space_id=None, preset="reader")
    id = typed_id("key", made.key.id)
    revoke_key(cast.owner, id)
    revoke_key(cast.owner, id)
    events = Event.objects.filter(object_id=id).order_by("id").values_list("type", "actor", "summary")
    assert list(events) == [("key.created", cast.owner.key, ""), ("key.revoked", cast.owner.key, "")]


@pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
def test_the_roles_that_only_decide_or_read_make_no_keys(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden, match="Your role makes no keys"):
        create_key(replace(cast.teammate, role=role), name="ci", default_space_id=None, preset="reader")


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_preset_gives_its_scopes(cast: Cast, preset: str) -> None:
    made = create_key(cast.owner, name="ci", default_space_id=None, preset=preset)
    assert set(made.key.scopes) == set(PRESETS[preset])


def test_the_agent_preset_is_all_but_delete_export_and_admin() -> None:
    assert set(Scope) - PRESETS["agent"] == {Scope.MEMORY_DELETE, Scope.EXPORT_READ, Scope.SPACE_ADMIN}


@pytest.mark.parametrize(
    "fields",
    [
        {"preset": "king"},
        {"scopes": []},
        {"scopes": ["memory:read", "approve"]},
        {},
        {"preset": "agent", "scopes": ["memory:read"]},
        {"preset": "agent", "families": ["hub", "other"]},
        {"preset": "agent", "name": "  "},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(cast: Cast, fields: dict[str, object]) -> None:
    with pytest.raises(ValidationFailed):
        create_key(cast.owner, **{"name": "ci", "default_space_id": None, **fields})
    assert not AgentKey.objects.filter(name="ci").exists()


def test_an_agent_makes_and_revokes_no_keys(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        create_key(cast.agent, name="mine", default_space_id=None, preset="agent")
    with pytest.raises(Forbidden):
        revoke_key(cast.agent, typed_id("key", cast.agent.key_id))


def test_a_member_sees_own_keys_and_an_admin_everybodys(cast: Cast) -> None:
    own = create_key(cast.teammate, name="own", default_space_id=None, preset="reader").key
    other = create_key(cast.owner, name="other", default_space_id=None, preset="reader").key
    assert {own, other} <= set(list_keys(cast.admin))
    assert other not in list_keys(cast.teammate)
    with pytest.raises(NotFound):
        revoke_key(cast.teammate, typed_id("key", other.id))


def test_a_key_authenticates_by_either_header_as_its_creator_in_its_spaces(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space, preset="writer", scopes=None, space_ids=[cast.space.id])
    for headers in (bearer(secret), {"x-api-key": secret}):
        actor = authenticate(headers, address="127.0.0.1")
        assert (actor.kind, actor.role, actor.user_id) == ("key", Role.MEMBER, cast.teammate.user_id)
        assert (actor.account_id, actor.default_space_id) == (cast.account.id, cast.space.id)
        assert (actor.scopes, actor.space_ids) == (PRESETS["writer"], frozenset({cast.space.id}))


def refusal(headers: dict[str, str], address: str = "127.0.0.1") -> dict[str, object]:
    with pytest.raises(Unauthorized) as caught:
        authenticate(headers, address=address)
    return caught.value.body()


def test_every_credential_that_does_not_hold_is_refused_alike(cast: Cast) -> None:
    key, secret = make_key(cast.teammate, cast.space)
    _, bound = make_key(cast.teammate, cast.space, addresses=["10.0.0.9"])
    _, expired = make_key(cast.teammate, cast.space, expires_at=timezone.now() - timedelta(seconds=1))
    with tenant(cast.account.id):
        revoke_key(cast.teammate, typed_id("key", key.key_id))
    presented = [bearer(secret), bearer(bound), bearer(expired), bearer(make_secret()), bearer("x"), {}]
    answers = [refusal(h) for h in presented]
    assert answers == [answers[0]] * len(presented)
    assert authenticate(bearer(bound), address="10.0.0.9").kind == "key"


def test_a_key_ends_with_its_creators_membership(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    Membership.objects.filter(user_id=cast.teammate.user_id).delete()
    refusal(bearer(secret))


def test_a_key_ends_when_its_creator_is_deactivated(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    User.objects.filter(id=cast.teammate.user_id).update(is_active=False)
    refusal(bearer(secret))


def test_a_key_shrinks_with_its_creators_role(cast: Cast) -> None:
    _, secret = make_key(cast.teammate, cast.space)
    Membership.objects.filter(user_id=cast.teammate.user_id).update(role=Role.VIEWER)
    assert authenticate(bearer(secret), address="").role is Role.VIEWER


def test_use_is_noted_at_most_once_a_minute(cast: Cast) -> None:
    key, secret = make_key(cast.teammate, cast.space)
    seen = []
    for at in ("2026-11-30T10:00:00Z", "2026-11-30T10:00:59Z", "2026-11-30T10:01:00Z"):
        with time_machine.travel(at, tick=False):
            authenticate(bearer(secret, **{"user-agent": "claude/2"}), address="127.0.0.1")
            seen.append(AgentKey.objects.get(id=key.key_id).last_used_at.isoformat())
    assert seen == ["2026-11-30T10:00:00+00:00", "2026-11-30T10:00:00+00:00", "2026-11-30T10:01:00+00:00"]
    row = AgentKey.objects.get(id=key.key_id)
    assert (row.last_used_client, row.last_used_address) == ("claude/2", "127.0.0.1")


def test_what_a_client_says_of_itself_is_attribution_only(cast: Cast) -> None:
    _, secret = make_key(cast.viewer, cast.space, device_label="laptop")
    headers = bearer(
        secret,
        **{
            "x-memory-hub-agent-id": "owner",
            "x-memory-hub-agent-instance-id": "i-1",
            "mcp-session-id": "s-1",
            "x-memory-hub-space": "main",
        },
    )
    actor = authenticate(headers, address="")
    said = actor.attribution
    assert (said.agent, said.agent_instance, said.session, said.device_label) == (
        "owner",
        "i-1",
        "s-1",
        "laptop",
    )
    assert (actor.role, actor.space_ref) == (Role.VIEWER, "main")


def test_a_foreign_key_id_and_an_unknown_one_answer_alike(cast: Cast) -> None:
    def answer(id: str) -> dict[str, object]:
        with pytest.raises(HubError) as caught:
            revoke_key(cast.owner, id)
        return caught.value.body()

    foreign = typed_id("key", cast.outsider.key_id)
    assert answer(foreign) == answer("key_" + "0" * 32) == answer("nonsense")
