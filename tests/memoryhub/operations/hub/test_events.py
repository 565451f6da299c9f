from typing import Any

import pytest

from accounts.domain.events import seal_events
from accounts.scopes import PRESETS
from memoryhub.common.tenancy import tenant
from spaces.domain.spaces import create_space
from tests.calls import call, fields, queries, refused
from tests.conftest import Cast


@pytest.fixture(autouse=True)
def _nothing_before(cast: Cast) -> None:
    seal(cast)


def seal(cast: Cast) -> None:
    with tenant(cast.account.id):
        seal_events(cast.account.id)


def start(cast: Cast) -> int:
    return int(call(cast.owner, "event_list", limit=500)["next_after"])


def put(cast: Cast, key: str = "k") -> None:
    call(cast.agent, "kv_set", ns="n", key=key, value="stored text")


def types(answer: dict[str, Any]) -> list[str]:
    return [event["type"] for event in answer["items"]]


def test_an_event_tells_what_happened_to_which_object_and_no_text(cast: Cast) -> None:
    after = start(cast)
    record = call(cast.agent, "record_put", collection="tasks", key="secret key", data={"a": "secret"})[
        "record"
    ]
    seal(cast)
    answer = call(cast.agent, "event_list", after=after)
    event = answer["items"][0]
    assert event.pop("id").startswith("evt_")
    assert event.pop("at").endswith("Z")
    assert event == {
        "seq": after + 1,
        "type": "record.created",
        "actor": cast.agent.key,
        "space": f"spc_{cast.space.id.hex}",
        "object": {"type": "record", "id": record["id"]},
    }
    assert (len(answer["items"]), answer["next_after"], answer["unsealed"]) == (1, after + 1, 0)


def test_only_sealed_events_are_served_and_the_others_counted(cast: Cast) -> None:
    after = start(cast)
    put(cast)
    assert call(cast.agent, "event_list", after=after) == {"items": [], "next_after": after, "unsealed": 1}
    seal(cast)
    assert types(call(cast.agent, "event_list", after=after)) == ["value.set"]


def test_reading_on_from_next_after_sees_each_event_once(cast: Cast) -> None:
    after = start(cast)
    for number in range(5):
        put(cast, f"k{number}")
    seal(cast)
    seen: list[int] = []
    while True:
        page = call(cast.agent, "event_list", after=after, limit=2)
        seen += [event["seq"] for event in page["items"]]
        if page["next_after"] == after:
            break
        after = page["next_after"]
    assert len(seen) == 5
    assert seen == sorted(set(seen))


def test_types_are_chosen_whole_or_by_noun(cast: Cast) -> None:
    after = start(cast)
    put(cast)
    record = call(cast.agent, "record_put", collection="tasks")["record"]["id"]
    call(cast.agent, "record_update", collection="tasks", id=record, status="done")
    seal(cast)
    for sent, expected in {
        "record.*": ["record.created", "record.updated"],
        "record.updated, value.set": ["value.set", "record.updated"],
        "memory.*": [],
        "": ["value.set", "record.created", "record.updated"],
    }.items():
        answer = call(cast.agent, "event_list", after=after, types=sent)
        assert (types(answer), answer["next_after"]) == (expected, after + 3)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"types": "record"}, "types"),
        ({"types": "record.%"}, "types"),
        ({"after": -1}, "after"),
        ({"after": 2**63}, "after"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"wait": 31}, "wait"),
    ],
)
def test_what_is_out_of_its_range_is_refused_by_name(
    cast: Cast, arguments: dict[str, Any], field: str
) -> None:
    error = refused(cast.agent, "event_list", **arguments)
    assert (error["code"], fields(error)) == ("validation_failed", [field])


def test_the_feed_keeps_to_the_spaces_that_its_reader_sees(cast: Cast) -> None:
    after = start(cast)
    with tenant(cast.account.id):
        create_space(cast.owner, name="Hidden", visibility="members")
    call(cast.owner.in_space("hidden"), "kv_set", ns="n", key="k", value=1)
    put(cast)
    seal(cast)
    assert types(call(cast.owner, "event_list", after=after)) == ["space.created", "value.set", "value.set"]
    assert types(call(cast.agent, "event_list", after=after)) == ["value.set"]
    assert types(call(cast.owner.in_space("hidden"), "event_list", after=after)) == [
        "space.created",
        "value.set",
    ]
    assert refused(cast.agent.in_space("hidden"), "event_list")["code"] == "not_found"


def test_the_feed_of_another_account_has_nothing_of_this_one(cast: Cast) -> None:
    put(cast)
    seal(cast)
    assert call(cast.outsider, "event_list")["items"] == []


def test_keys_and_members_are_the_business_of_those_who_manage(cast: Cast) -> None:
    assert "key.created" in types(call(cast.owner, "event_list"))
    for actor in (cast.agent, cast.teammate, cast.viewer):
        assert "key.created" not in types(call(actor, "event_list"))


def test_the_feed_needs_its_scope(cast: Cast) -> None:
    error = refused(cast.key(scopes=PRESETS["agent"] - {"events:read"}), "event_list")
    assert error["details"] == {"missing_scopes": ["events:read"]}


def test_it_takes_as_many_queries_for_three_events_as_for_one(cast: Cast) -> None:
    after = start(cast)
    put(cast)
    seal(cast)
    one = queries(lambda: call(cast.agent, "event_list", after=after))
    put(cast), put(cast)
    seal(cast)
    assert queries(lambda: call(cast.agent, "event_list", after=after)) == one
