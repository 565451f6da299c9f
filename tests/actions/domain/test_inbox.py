import pytest

from actions.domain.inbox import TABS, count_inbox, list_inbox
from actions.domain.review import review_action
from actions.models import Status
from memoryhub.common.errors import InvalidRequest, ValidationFailed
from spaces.models import Space
from tests.actions.conftest import NOW
from tests.actions.stage import HOUR, action_in, digest_of, propose, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]


@pytest.fixture
def one_of_each(cast: Cast, clock) -> dict[str, str]:
    """State → short id; and one pending that the owner proposed, as `own`."""
    made = {str(s): action_in(cast, s, clock).short_id for s in Status}
    return made | {"own": propose(cast.owner).action.short_id}


def tabs(actor) -> dict[str, set[str]]:
    return {tab: {a.short_id for a in list_inbox(actor, tab).items} for tab in TABS}


def test_each_action_is_in_one_tab(cast: Cast, one_of_each: dict) -> None:
    ended = {one_of_each[s] for s in ("failed", "rejected", "expired", "cancelled")}
    under_way = {one_of_each["approved"], one_of_each["executing"]}
    assert tabs(cast.owner) == {
        "needs_you": {one_of_each["pending"]},
        "waiting": {one_of_each["own"]},
        "snoozed": set(),
        "approved": under_way,
        "done": {one_of_each["done"]},
        "failed": ended,
    }


def test_who_may_not_decide_sees_what_is_pending_as_waiting(cast: Cast, one_of_each: dict) -> None:
    for actor in (cast.teammate, cast.viewer, cast.admin):
        assert tabs(actor)["needs_you"] == set()
        assert tabs(actor)["waiting"] == {one_of_each["pending"], one_of_each["own"]}


def test_the_counts_are_those_of_the_tabs(cast: Cast, one_of_each: dict) -> None:
    for actor in (cast.owner, cast.teammate):
        assert count_inbox(actor) == {tab: len(ids) for tab, ids in tabs(actor).items()}


def test_what_nothing_is_heard_of_needs_somebody_who_decides(cast: Cast, one_of_each: dict, clock) -> None:
    clock.shift(HOUR)
    assert one_of_each["executing"] in tabs(cast.approver)["needs_you"]
    assert one_of_each["executing"] not in tabs(cast.teammate)["needs_you"]


def test_what_is_past_its_expiry_moves_at_once(cast: Cast, clock) -> None:
    proposed(cast, expires_at="2026-03-02T09:00:03Z")
    clock.shift(3)
    assert (count_inbox(cast.owner)["needs_you"], count_inbox(cast.owner)["failed"]) == (0, 1)


def test_pages_go_on_where_the_last_ended(cast: Cast) -> None:
    for _ in range(5):
        proposed(cast)
    seen, token = [], None
    while token != "":
        page = list_inbox(cast.owner, size=2, token=token)
        seen += [a.short_id for a in page.items]
        token = page.next_token
    assert seen == ["A5", "A4", "A3", "A2", "A1"]


def test_a_page_token_is_for_one_person_and_one_tab(cast: Cast) -> None:
    proposed(cast), proposed(cast)
    token = list_inbox(cast.owner, size=1).next_token
    for actor, tab in ((cast.approver, "needs_you"), (cast.owner, "done")):
        with pytest.raises(InvalidRequest):
            list_inbox(actor, tab, token=token, size=1)


def test_an_unknown_tab_is_refused(cast: Cast) -> None:
    with pytest.raises(ValidationFailed):
        list_inbox(cast.owner, "spam")


def test_every_change_raises_the_version_of_the_inbox(cast: Cast, clock) -> None:
    versions = [Space.objects.get(id=cast.space.id).inbox_version]
    for step in ("pending", "approved", "executing", "done"):
        action_in(cast, step, clock)
        versions.append(Space.objects.get(id=cast.space.id).inbox_version)
    assert versions == [0, 1, 3, 6, 10]


def test_a_review_holds_everything_the_page_shows(cast: Cast) -> None:
    action = proposed(cast, payload={"to": "ann@x.test"}, preconditions={"kv": {"n/k": 1}, "ask": "Ann?"})
    seen = review_action(cast.approver, "A1")
    assert (seen.status, seen.digest, seen.intact, seen.paused) == ("pending", digest_of(action), True, "")
    assert seen.expires == "2026-03-05 09:00:00 +00:00 (UTC)"
    assert seen.moves == ["approved", "rejected", "cancelled"]
    assert [(c.name, c.wanted, c.holds) for c in seen.checks] == [
        ("kv.n/k", "at version 1", False),
        ("ask", '"Ann?"', None),
    ]
    assert [(r.name, r.text) for r in seen.preview.rows] == [("to", "ann@x.test")]
    assert [(line.at, line.kind) for line in seen.history] == [(NOW, "proposed")]


def test_a_review_says_that_actions_are_paused(cast: Cast) -> None:
    proposed(cast)
    Space.objects.update(actions_paused=True)
    assert review_action(cast.approver, "A1").paused == "space"


@pytest.mark.parametrize("read", [lambda actor: list_inbox(actor), lambda actor: count_inbox(actor)])
def test_the_inbox_takes_as_many_queries_for_three_as_for_one(
    cast: Cast, read, django_assert_max_num_queries
) -> None:
    proposed(cast)
    with django_assert_max_num_queries(10) as once:
        read(cast.owner)
    proposed(cast), proposed(cast)
    with django_assert_max_num_queries(len(once)):
        read(cast.owner)
