import pytest

from actions.domain.together import MOST, decide_together, list_together
from actions.domain.transitions import reject_action
from memoryhub.common.errors import NotFound, ValidationFailed
from tests.actions.stage import digest_of, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]


def chosen(cast: Cast, count: int, **fields: object) -> list[tuple[str, str]]:
    return [
        (action.short_id, digest_of(action)) for action in (proposed(cast, **fields) for _ in range(count))
    ]


def test_each_is_decided_on_what_was_shown_of_it(cast: Cast) -> None:
    person, picked = cast.approver.in_space("main"), chosen(cast, 3)
    decided = decide_together(person, picked, "approved")
    assert [(d.id, d.status, d.refusal) for d in decided] == [(id, "approved", "") for id, _ in picked]


def test_what_can_not_be_decided_does_not_keep_back_the_others(cast: Cast) -> None:
    person, picked = cast.approver.in_space("main"), chosen(cast, 3)
    reject_action(person, picked[0][0])
    picked[1] = (picked[1][0], "0" * 64)
    decided = decide_together(person, picked, "approved")
    assert [(d.status, bool(d.refusal)) for d in decided] == [
        ("rejected", True), ("pending", True), ("approved", False),
    ]  # fmt: skip


def test_only_one_class_and_no_more_than_50_at_once(cast: Cast) -> None:
    person = cast.approver.in_space("main")
    mixed = chosen(cast, 1) + chosen(cast, 1, class_name="mail.send")
    for picked in (mixed, [], chosen(cast, 1) * (MOST + 1)):
        with pytest.raises(ValidationFailed):
            decide_together(person, picked, "rejected")
    with pytest.raises(ValidationFailed):
        decide_together(person, chosen(cast, 1), "done")
    with pytest.raises(NotFound):
        decide_together(person, [("A99", "")], "rejected")


def test_who_may_not_decide_changes_nothing(cast: Cast) -> None:
    for who in (cast.teammate, cast.admin, cast.viewer):
        [decided] = decide_together(who.in_space("main"), chosen(cast, 1), "rejected")
        assert (decided.status, bool(decided.refusal)) == ("pending", True)


def test_what_is_offered_is_what_waits_of_that_class(cast: Cast) -> None:
    picked = chosen(cast, 2)
    chosen(cast, 1, class_name="mail.send")
    person = cast.approver.in_space("main")
    assert [a.short_id for a in list_together(person, "chat.send")] == [id for id, _ in reversed(picked)]
    assert list_together(cast.teammate.in_space("main"), "chat.send") == []
