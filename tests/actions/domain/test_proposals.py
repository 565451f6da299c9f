import json
from datetime import UTC, datetime

import pytest

from accounts.actor import Attribution
from accounts.models import Event, Job
from actions.domain.actions import access_action, list_actions
from actions.domain.proposals import EXPIRE
from actions.domain.transitions import reject_action
from actions.models import Action
from memoryhub.common.errors import (
    Forbidden,
    IdempotencyConflict,
    NotFound,
    PayloadTooLarge,
    ValidationFailed,
)
from memoryhub.common.ids import new_id, typed_id
from spaces.domain.spaces import create_space
from spaces.models import Space
from tests.actions.conftest import NOW
from tests.actions.stage import DAY, HOUR, action_in, approve, propose, proposed
from tests.conftest import Cast, make_key

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]


def test_a_proposal_waits_for_72_hours_under_the_next_short_id(cast: Cast) -> None:
    first, second = propose(cast.agent), propose(cast.agent)
    assert [p.action.short_id for p in (first, second)] == ["A1", "A2"]
    assert (first.created, first.action.status, first.action.expires_at) == (True, "pending", NOW + 72 * HOUR)


def test_short_ids_are_counted_in_each_space(cast: Cast) -> None:
    other = create_space(cast.owner, name="Other")
    key, _ = make_key(cast.owner, other)
    assert [proposed(cast).short_id, propose(key).action.short_id] == ["A1", "A1"]


def test_payload_and_preconditions_are_stored_in_one_spelling(cast: Cast) -> None:
    action = proposed(
        cast, payload={"b": 1.0, "a": "é\u200b"}, preconditions={"ask": "Ann", "kv": {"n/k": 2}}
    )
    assert action.current.payload_json == '{"a":"é\u200b","b":1}'
    assert action.current.preconditions_json == '{"ask":"Ann","kv":{"n/k":2}}'


def test_who_proposed_is_the_credential_and_what_the_client_says_is_kept_beside_it(cast: Cast) -> None:
    said = Attribution(agent="claude", session="s1")
    action = propose(cast.key(attribution=said, name="Ops key")).action
    assert (action.proposer, action.proposer_name) == (cast.agent.key, "Ops key")
    assert (action.agent, action.session) == ("claude", "s1")


def test_proposing_writes_one_event_without_text_and_a_job_for_its_expiry(cast: Cast) -> None:
    action = proposed(cast)
    [event] = Event.objects.filter(object_id=action.uid)
    assert (event.type, event.object_type, event.actor, event.summary) == (
        "action.proposed", "action", cast.agent.key, "",
    )  # fmt: skip
    [job] = Job.objects.filter(kind=EXPIRE)
    assert (job.object_id, job.run_after) == (action.id, action.expires_at)


def test_the_same_key_and_content_is_the_same_action_however_it_is_spelt(cast: Cast) -> None:
    first = propose(cast.agent, payload={"n": 1, "to": ["x"]}, idempotency_key="K")
    again = propose(cast.agent, payload={"to": ["x"], "n": 1.0}, idempotency_key="K", summary="Other words")
    assert (again.created, again.action.id, again.action.current.summary) == (
        False, first.action.id, first.action.current.summary,
    )  # fmt: skip
    assert Action.objects.count() == 1


@pytest.mark.parametrize("change", [{"payload": {"n": 2}}, {"class_name": "mail.reply"}])
def test_the_same_key_with_other_content_is_refused_and_nothing_is_made(cast: Cast, change: dict) -> None:
    propose(cast.agent, payload={"n": 1}, idempotency_key="K")
    with pytest.raises(IdempotencyConflict) as refusal:
        propose(cast.agent, **{"payload": {"n": 1}, "idempotency_key": "K", **change})
    assert refusal.value.details == {"action": "A1"}
    assert Action.objects.count() == 1


def test_a_repeat_is_answered_after_the_action_ended_even_where_its_expiry_is_past_by_now(
    cast: Cast, clock
) -> None:
    expiry = "2026-03-02T10:00:00Z"
    action = proposed(cast, idempotency_key="K", expires_at=expiry)
    reject_action(cast.approver, action.uid)
    clock.move_to(NOW + DAY)
    again = propose(cast.agent, idempotency_key="K", expires_at=expiry)
    assert (again.created, again.action.status) == (False, "rejected")


def test_keys_are_per_space_and_shared_by_the_agents_in_it(cast: Cast) -> None:
    second, _ = make_key(cast.teammate, cast.space)
    elsewhere, _ = make_key(cast.owner, create_space(cast.owner, name="Other"))
    first = propose(cast.agent, idempotency_key="K")
    assert propose(second, idempotency_key="K").action.id == first.action.id
    assert propose(elsewhere, idempotency_key="K").created


def test_keys_are_compared_in_one_unicode_form(cast: Cast) -> None:
    propose(cast.agent, idempotency_key="caf\u00e9")
    assert not propose(cast.agent, idempotency_key="cafe\u0301").created


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"class_name": "Slack.Send"}, "class"),
        ({"class_name": "a" * 65}, "class"),
        ({"class_name": "a\n"}, "class"),
        ({"class_name": ""}, "class"),
        ({"summary": ""}, "summary"),
        ({"summary": " \u200b"}, "summary"),
        ({"summary": "x" * 501}, "summary"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"idempotency_key": "k" * 10_000}, "idempotency_key"),
        ({"expires_at": "2026-03-02T08:59:59Z"}, "expires_at"),
        ({"expires_at": "2026-03-02T09:00:00Z"}, "expires_at"),
        ({"expires_at": "2026-04-01T09:00:01Z"}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"preconditions": {"kv": []}}, "preconditions.kv"),
        ({"preconditions": {"kv": {"nokey": 1}}}, "preconditions.kv"),
        ({"preconditions": {"kv": {"n/k": "1"}}}, "preconditions.kv"),
        ({"preconditions": {"kv": {"n/k": True}}}, "preconditions.kv"),
        ({"preconditions": {"kv": {"n/k": -1}}}, "preconditions.kv"),
        ({"preconditions": {"records": {"x": {"version": 1}}}}, "preconditions.records"),
        ({"preconditions": {"records": {typed_id("rec", new_id()): {}}}}, "preconditions.records"),
        ({"preconditions": {"records": {typed_id("rec", new_id()): {"state": 1}}}}, "preconditions.records"),
        ({"preconditions": {"not_before": 5}}, "preconditions.not_before"),
        ({"preconditions": {"not_after": "soon"}}, "preconditions.not_after"),
    ],
)
def test_what_can_not_be_proposed_is_refused_by_the_name_of_its_field(
    cast: Cast, fields: dict, named: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        propose(cast.agent, **fields)
    assert list(refusal.value.fields) == [named]
    assert Action.objects.count() == 0


def test_the_limits_themselves_are_allowed(cast: Cast) -> None:
    filler = "x" * (32 * 1024 - len('{"a":""}'))
    action = proposed(
        cast,
        class_name="a" * 64,
        summary="s" * 500,
        idempotency_key="k" * 200,
        payload={"a": filler},
        expires_at="2026-04-01T09:00:00Z",
    )
    assert action.current.payload == {"a": filler}


@pytest.mark.parametrize(
    ("field", "limit"), [("payload", 32 * 1024), ("meta", 16 * 1024), ("preconditions", 16 * 1024)]
)
def test_an_object_over_its_size_is_refused(cast: Cast, field: str, limit: int) -> None:
    with pytest.raises(PayloadTooLarge) as refusal:
        propose(cast.agent, **{field: {"a": "é" * (limit // 2)}})
    assert refusal.value.details == {"field": field, "limit": limit}


def test_times_without_an_offset_are_in_the_zone_of_the_space(cast: Cast) -> None:
    Space.objects.update(time_zone="Asia/Jerusalem")
    action = proposed(
        cast,
        expires_at="2026-03-03T18:00",
        preconditions={"not_before": "2026-03-03T08:00", "not_after": "2026-03-03T10:00:00+02:00"},
    )
    assert action.expires_at == datetime(2026, 3, 3, 16, tzinfo=UTC)
    assert action.current.preconditions == {
        "not_before": "2026-03-03T06:00:00Z",
        "not_after": "2026-03-03T08:00:00Z",
    }


def test_an_expiry_that_is_a_date_lasts_to_the_end_of_that_day(cast: Cast) -> None:
    Space.objects.update(time_zone="America/Bogota")
    assert proposed(cast, expires_at="2026-03-04").expires_at == datetime(
        2026, 3, 5, 4, 59, 59, 999_999, tzinfo=UTC
    )


def test_an_expiry_that_the_clocks_skip_is_refused(cast: Cast) -> None:
    Space.objects.update(time_zone="America/New_York")
    with pytest.raises(ValidationFailed, match="clocks skip it"):
        propose(cast.agent, expires_at="2026-03-08T02:30:00")


def test_proposing_needs_the_right_to_write_in_the_space(cast: Cast) -> None:
    key, _ = make_key(cast.viewer, cast.space)
    with pytest.raises(Forbidden):
        propose(key)


def test_a_short_id_is_looked_up_in_the_space_of_the_caller_alone(cast: Cast) -> None:
    elsewhere, _ = make_key(cast.owner, create_space(cast.owner, name="Other"))
    action = proposed(cast)
    assert access_action(cast.agent, "a1").id == action.id
    assert access_action(elsewhere, action.uid).id == action.id
    with pytest.raises(NotFound):
        access_action(elsewhere, "A1")


@pytest.mark.parametrize(
    "id", ["A2", "A0", "A01", "A99999999999999", "", "1", "act_", "act_" + "0" * 32, "A1 "]
)
def test_an_id_that_is_none_is_absent(cast: Cast, id: str) -> None:
    proposed(cast)
    with pytest.raises(NotFound):
        access_action(cast.agent, id)


def test_an_action_of_a_space_that_is_closed_to_the_caller_is_absent(cast: Cast) -> None:
    hidden, _ = make_key(cast.owner, create_space(cast.owner, name="Board", visibility="members"))
    action = propose(hidden).action
    with pytest.raises(NotFound):
        access_action(cast.agent, action.uid)


def test_lists_hold_what_is_open_newest_first_unless_asked_otherwise(cast: Cast, clock) -> None:
    made = [
        action_in(cast, state, clock).short_id for state in ("pending", "approved", "rejected", "executing")
    ]
    assert [a.short_id for a in list_actions(cast.agent)] == ["A4", "A2", "A1"]
    assert [a.short_id for a in list_actions(cast.agent, statuses=["rejected", "pending"])] == ["A3", "A1"]
    assert [a.short_id for a in list_actions(cast.agent, limit=1)] == made[-1:]


def test_lists_tell_what_is_expired_before_any_sweep(cast: Cast, clock) -> None:
    short = proposed(cast, expires_at="2026-03-02T09:00:03Z")
    approved = approve(cast.owner, proposed(cast, expires_at="2026-03-02T09:00:03Z"))
    clock.shift(3)
    assert list_actions(cast.agent) == []
    assert [a.id for a in list_actions(cast.agent, statuses=["expired"])] == [approved.id, short.id]
    assert {a.status for a in Action.objects.all()} == {"pending", "approved"}


@pytest.mark.parametrize("fields", [{"statuses": ["open"]}, {"limit": 0}, {"limit": 101}])
def test_a_list_that_makes_no_sense_is_refused(cast: Cast, fields: dict) -> None:
    with pytest.raises(ValidationFailed):
        list_actions(cast.agent, **fields)


def test_a_list_takes_as_many_queries_for_three_actions_as_for_one(
    cast: Cast, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    proposed(cast)
    with django_assert_max_num_queries(5) as once:
        assert len(list_actions(cast.agent)) == 1
    proposed(cast), proposed(cast)
    with django_assert_num_queries(len(once)):
        assert [json.loads(a.current.payload_json) for a in list_actions(cast.agent)]
