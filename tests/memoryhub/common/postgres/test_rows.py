"""A row is put in with every value that it holds, as the ORM would have put it in."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import DataError, IntegrityError, transaction

from accounts.models import Event
from memoryhub.common.ids import new_id
from memoryhub.common.postgres.rows import insert
from spaces.domain.search.bm25 import memory_weights
from spaces.models import Memory
from tests.conftest import Cast

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def memory(cast: Cast, **fields: object) -> Memory:
    times = dict.fromkeys(("occurred_at", "last_seen_at", "created_at", "updated_at"), NOON)
    values = {"account_id": cast.space.account_id, "space": cast.space, "text": "Lunch is at noon.", **times}
    return Memory(**{**values, "identity": new_id().bytes * 2, **fields})


@pytest.mark.usefixtures("inside")
def test_every_value_is_stored_as_the_orm_stores_it(cast: Cast) -> None:
    told = {
        "topics": ["food", 'a "quoted", one'],
        "tags": [],
        "links": [{"url": "https://example.org/?a=1"}],
        "metadata": {"deep": {"list": [1, 2.5, None, "é"]}},
        "importance": 0.25,
        "pinned": True,
        "expires_at": NOON,
        "search_vector": "'noon':1",
        "search_weights": memory_weights({"noon": 1}, 1),
    }
    by_hand, by_orm = memory(cast, **told), memory(cast, **told)
    assert insert(by_hand)
    by_orm.save(force_insert=True)
    own = {"id", "identity"}
    rows = Memory.objects.filter(id__in=[by_hand.id, by_orm.id]).values()
    first, second = ({name: value for name, value in row.items() if name not in own} for row in rows)
    assert str(first) == str(second)
    assert first["metadata"] == told["metadata"]
    assert not by_hand._state.adding


@pytest.mark.usefixtures("inside")
def test_where_it_is_there_already_it_is_refused_or_left_out(cast: Cast) -> None:
    first = memory(cast)
    again = memory(cast, identity=first.identity, text="Again.")
    assert insert(first)
    assert not insert(again, unless_there=True)
    assert again._state.adding
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(again)
    assert list(Memory.objects.filter(identity=first.identity).values_list("text")) == [(first.text,)]


@pytest.mark.usefixtures("inside")
def test_what_is_too_long_for_its_column_is_refused_and_never_cut(cast: Cast) -> None:
    event = Event(
        account_id=cast.space.account_id, type="x" * 500, at=NOON, actor="system", object_id=str(uuid4())
    )
    for row in (event, memory(cast, subject="x" * 121), memory(cast, tags=["x" * 51])):
        with pytest.raises(DataError), transaction.atomic():
            insert(row)
