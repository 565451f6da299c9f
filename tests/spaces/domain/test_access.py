from dataclasses import replace
from typing import Any

import pytest

from accounts.actor import Actor, system_actor
from accounts.scopes import ROLE_RIGHTS, Right
from memoryhub.common.errors import Forbidden, HubError, NotFound
from memoryhub.common.ids import typed_id
from spaces.domain.access import access_space, list_spaces, role_in
from spaces.domain.spaces import create_space
from spaces.models import Space, SpaceMember
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")


@pytest.fixture
def private(cast: Cast) -> Space:
    return create_space(cast.owner, name="Private", slug="private", visibility="members")


def let_in(cast: Cast, space: Space, who: str, role: str) -> None:
    SpaceMember.objects.create(
        account_id=cast.account.id, space=space, user_id=getattr(cast, who).user_id, role=role
    )


def test_a_space_is_found_by_slug_typed_id_and_uuid(cast: Cast) -> None:
    for ref in ("main", typed_id("spc", cast.space.id), str(cast.space.id), cast.space.id):
        assert access_space(cast.agent, ref) == cast.space


def test_without_a_name_the_request_header_counts_then_the_keys_default(cast: Cast, private: Space) -> None:
    assert access_space(cast.agent) == cast.space
    assert access_space(cast.owner.in_space("private")) == private


def test_a_space_for_named_members_is_absent_for_others(cast: Cast, private: Space) -> None:
    with pytest.raises(NotFound):
        access_space(cast.teammate, "private")
    let_in(cast, private, "teammate", "member")
    assert access_space(cast.teammate, "private") == private
    assert private in list_spaces(cast.admin)
    assert private not in list_spaces(cast.viewer)


def test_a_foreign_space_an_unknown_one_and_nonsense_answer_alike(cast: Cast) -> None:
    def answer(ref: str) -> dict[str, object]:
        with pytest.raises(HubError) as caught:
            access_space(cast.agent, ref)
        return caught.value.body()

    foreign = typed_id("spc", cast.outsider_space.id)
    assert answer(foreign) == answer("spc_" + "0" * 32) == answer("nothing") == answer("'; drop table")


def test_a_key_sees_only_the_spaces_on_its_list(cast: Cast, private: Space) -> None:
    let_in(cast, private, "teammate", "member")
    key = cast.key(space_ids=frozenset({private.id}), default_space_id=private.id)
    assert list_spaces(key) == [private]
    with pytest.raises(NotFound):
        access_space(key, "main")


def test_a_role_in_a_space_narrows_and_never_widens(cast: Cast) -> None:
    let_in(cast, cast.space, "teammate", "viewer")
    let_in(cast, cast.space, "viewer", "approver")
    assert (role_in(cast.teammate, cast.space), role_in(cast.viewer, cast.space)) == ("viewer", "viewer")
    with pytest.raises(Forbidden):
        access_space(cast.agent, "main", right=Right.WRITE)


def test_reading_without_the_right_to_write_is_forbidden_not_absent(cast: Cast) -> None:
    assert access_space(cast.viewer, "main") == cast.space
    with pytest.raises(Forbidden):
        access_space(replace(cast.viewer, kind="key"), "main", right=Right.WRITE)


def found_by_hand(actor: Actor, ref: object) -> tuple[Space, bool] | None:
    try:
        space = access_space(actor, ref)
    except NotFound:
        return None
    try:
        access_space(actor, ref, right=Right.WRITE)
    except Forbidden:
        return space, False
    return space, True


def found_by_the_models(actor: Actor, space: Space) -> tuple[Space, bool] | None:
    if not Space.objects.visible_to(actor).filter(id=space.id).exists():
        return None
    return space, Right.WRITE in ROLE_RIGHTS[role_in(actor, space)]


def test_the_look_up_agrees_with_what_the_models_say(cast: Cast, private: Space) -> None:
    let_in(cast, private, "teammate", "member")
    let_in(cast, private, "viewer", "member")
    let_in(cast, private, "approver", "viewer")
    people = [
        cast.owner,
        cast.admin,
        cast.approver,
        cast.teammate,
        cast.viewer,
        system_actor(cast.account.id),
    ]
    lists = [None, frozenset({private.id}), frozenset({cast.space.id, cast.outsider_space.id}), frozenset()]
    actors = [replace(person, space_ids=listed) for person in people for listed in lists]
    actors += [replace(actor, kind="key", user_id=None) for actor in actors]
    for actor in actors:
        for space in (cast.space, private, cast.outsider_space):
            wanted = found_by_the_models(actor, space)
            assert found_by_hand(actor, space.id) == wanted
            assert found_by_hand(actor, typed_id("spc", space.id)) == wanted
            assert space == cast.outsider_space or found_by_hand(actor, space.slug) == wanted


def test_without_any_name_the_oldest_space_is_meant(cast: Cast, private: Space) -> None:
    nameless = replace(cast.owner, default_space_id=None)
    assert access_space(nameless) == cast.space
    assert access_space(replace(nameless, space_ids=frozenset({private.id}))) == private
    with pytest.raises(NotFound):
        access_space(replace(nameless, space_ids=frozenset()))


def test_a_slug_that_is_another_spaces_id_means_the_slug(cast: Cast, private: Space) -> None:
    named_so = create_space(cast.owner, name="Named so", slug=private.id.hex)
    assert access_space(cast.owner, private.id.hex) == named_so
    assert access_space(cast.owner, typed_id("spc", private.id)) == private


def test_the_look_up_is_one_query(cast: Cast, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        access_space(cast.agent, "main", right=Right.WRITE)
