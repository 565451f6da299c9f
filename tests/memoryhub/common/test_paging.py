import json
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Coalesce
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.common.errors import InvalidRequest, ValidationFailed
from memoryhub.common.paging import (
    Page,
    cut_by_size,
    decode_token,
    encode_token,
    json_chars,
    keyset,
    page_of,
    page_size,
    position_of,
    shorten_texts,
)
from spaces.models import Record
from tests.conftest import Cast

NOON = datetime(2026, 8, 8, 12, 0, 0, 123_456, tzinfo=UTC)
DUE_FIRST = ("due_at", "-created_at", "-id")
FILTERS = {"tag": "a", "space": uuid.UUID(int=7)}


@pytest.fixture
def records(cast: Cast, inside: None) -> list[Record]:
    """Nine records: three moments of creation, and in each one due early, one due late and one never."""
    rows = [
        Record(
            account=cast.account,
            space=cast.space,
            collection="leads",
            status=f"s{index}",
            due_at=due,
            written_by="test",
            created_at=NOON + timedelta(hours=hour),
            updated_at=NOON,
        )
        for index, (hour, due) in enumerate(
            (hour, due) for hour in range(3) for due in (NOON, None, NOON + timedelta(days=9))
        )
    ]
    return Record.objects.bulk_create(rows)


def walk(size: int, order: tuple[str, ...], queryset: Any = None) -> list[Record]:
    found: list[Record] = []
    position = None
    while True:
        rows, position = keyset(
            queryset if queryset is not None else Record.objects.all(), position, size, order
        )
        found += rows
        if position is None:
            return found


def pages(size: int, **asked: Any) -> Iterator[Page[Record]]:
    token: str | None = None
    while token != "":
        page = page_of(
            Record.objects.all(), token=token, size=size, actor_key="key:1", filters=FILTERS, **asked
        )
        yield page
        token = page.next_token


def in_order(records: list[Record], *, due_first: bool) -> list[Record]:
    newest = sorted(records, key=lambda record: (record.created_at, record.id), reverse=True)
    if not due_first:
        return newest
    return sorted(newest, key=lambda record: (record.due_at is None, record.due_at or NOON))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 9, 10])
@pytest.mark.parametrize("order", [("-created_at", "-id"), DUE_FIRST])
def test_pages_of_every_size_hold_each_row_once_in_order(
    records: list[Record], size: int, order: tuple[str, ...]
) -> None:
    assert walk(size, order) == in_order(records, due_first=order == DUE_FIRST)


def test_nulls_come_last_in_a_descending_order_too(records: list[Record]) -> None:
    dues = [record.due_at for record in walk(2, ("-due_at", "id"))]
    assert dues == [NOON + timedelta(days=9)] * 3 + [NOON] * 3 + [None] * 3


def test_an_annotation_can_order_a_list(records: list[Record]) -> None:
    never_last = Record.objects.annotate(due=Coalesce(F("due_at"), F("created_at")), maybe=F("due_at"))
    dues = [record.due for record in walk(2, ("-due", "id"), never_last)]
    assert dues == sorted(dues, reverse=True)
    assert [record.maybe for record in walk(2, ("maybe", "id"), never_last)][-3:] == [None] * 3


def test_a_row_written_between_two_pages_moves_nothing(records: list[Record], cast: Cast) -> None:
    first, position = keyset(Record.objects.all(), None, 4)
    Record.objects.create(
        account=cast.account,
        space=cast.space,
        collection="leads",
        written_by="test",
        created_at=NOON + timedelta(days=1),
        updated_at=NOON,
    )
    rest, _ = keyset(Record.objects.all(), position, 10)
    assert first + rest == in_order(records, due_first=False)


def test_a_page_goes_on_after_a_row_that_is_gone(records: list[Record]) -> None:
    first, position = keyset(Record.objects.all(), None, 4)
    first[-1].delete()
    rest, _ = keyset(Record.objects.all(), position, 10)
    assert rest == in_order(records, due_first=False)[4:]


def test_a_page_is_one_query_whatever_its_size(records: list[Record]) -> None:
    for size in (1, 3):
        with CaptureQueriesContext(connection) as queries:
            keyset(Record.objects.all(), position_of(records[4]), size)
        assert len(queries) == 1


def test_tokens_lead_through_the_whole_list(records: list[Record]) -> None:
    found = [page.items for page in pages(4, order=DUE_FIRST)]
    assert [len(items) for items in found] == [4, 4, 1]
    assert [row for items in found for row in items] == in_order(records, due_first=True)


def test_a_list_that_fits_has_no_token(records: list[Record]) -> None:
    assert [page.next_token for page in pages(9)] == [""]


def test_a_token_of_another_order_is_refused(records: list[Record]) -> None:
    token = next(pages(4, order=DUE_FIRST)).next_token
    with pytest.raises(InvalidRequest, match=r"^page_token: "):
        page_of(Record.objects.all(), token=token, size=4, actor_key="key:1", filters=FILTERS)


def test_a_page_cut_by_size_continues_after_the_last_item_it_kept(records: list[Record]) -> None:
    first = next(pages(9)).shown(lambda record: {"id": str(record.id), "text": "x" * 100}, 500)
    assert len(first.items) == 3
    rest = page_of(Record.objects.all(), token=first.next_token, size=9, actor_key="key:1", filters=FILTERS)
    shown = [item["id"] for item in first.items] + [str(record.id) for record in rest.items]
    assert shown == [str(record.id) for record in in_order(records, due_first=False)]


def test_a_page_within_the_size_keeps_its_token(records: list[Record]) -> None:
    page = next(pages(4))
    shown = page.shown(lambda record: {"status": record.status})
    assert shown.items == [{"status": record.status} for record in page.items]
    assert shown.next_token == page.next_token


POSITIONS = st.tuples(
    st.datetimes(timezones=st.just(UTC)),
    st.uuids(),
    st.floats(allow_nan=False),
    st.none(),
    st.text(),
    st.dates(),
)


@given(POSITIONS)
def test_a_position_comes_back_as_it_was(position: tuple[Any, ...]) -> None:
    found = decode_token(encode_token("key:1", FILTERS, position), "key:1", FILTERS)
    assert found == position
    assert [type(value) for value in found] == [type(value) for value in position]


def test_a_token_is_short_and_safe_in_a_url() -> None:
    token = encode_token("key:1", FILTERS, (NOON, uuid.uuid4()))
    assert len(token) < 200
    assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:")


@pytest.mark.parametrize(
    ("actor_key", "filters"),
    [
        ("key:2", FILTERS),
        ("key:1", {}),
        ("key:1", {**FILTERS, "tag": "b"}),
        ("key:1", {**FILTERS, "tag": ["a"]}),
        ("key:1", {**FILTERS, "kind": "fact"}),
        ("key:1", {**FILTERS, "space": uuid.UUID(int=8)}),
    ],
)
def test_a_token_is_good_for_its_asker_and_filters_alone(actor_key: str, filters: dict[str, Any]) -> None:
    token = encode_token("key:1", FILTERS, (NOON, uuid.uuid4()))
    with pytest.raises(InvalidRequest):
        decode_token(token, actor_key, filters)


def test_filters_are_the_same_in_any_order_and_without_their_nulls() -> None:
    one = {"tags": {"b", "a"}, "day": date(2026, 8, 8), "limit": 5}
    other = {"limit": 5.0, "kind": None, "day": date(2026, 8, 8), "tags": {"a", "b"}}
    assert decode_token(encode_token("key:1", one, (1,)), "key:1", other) == (1,)


@pytest.mark.parametrize(
    "token", ["x", "null", "a:b", "é", "\ud83d", "\0", ":" * 50, "x" * 1_000_000, "eyJhIjoxfQ:abc", " "]
)
def test_a_made_up_token_is_refused_by_the_name_of_its_argument(token: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        decode_token(token, "key:1", {}, field="cursor")
    assert refusal.value.message == (
        "cursor: Is not a token of this list. Send the one from its last answer with the same arguments, "
        "or none to begin anew."
    )


def test_a_token_with_any_character_changed_is_refused() -> None:
    token = encode_token("key:1", FILTERS, (NOON, uuid.uuid4()))
    for index in range(len(token)):
        changed = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]
        with pytest.raises(InvalidRequest):
            decode_token(changed, "key:1", FILTERS)


def test_a_token_signed_with_another_secret_is_refused() -> None:
    with override_settings(SECRET_KEY="another secret for this test"):
        token = encode_token("key:1", FILTERS, (1,))
    with pytest.raises(InvalidRequest):
        decode_token(token, "key:1", FILTERS)


@pytest.mark.parametrize(
    ("value", "size"), [(None, 50), (0, 50), (1, 1), (200, 200), (201, 200), (10**30, 200)]
)
def test_a_page_size_has_a_default_and_a_maximum(value: int | None, size: int) -> None:
    assert page_size(value, 50, 200) == size


def test_a_negative_page_size_is_refused() -> None:
    with pytest.raises(ValidationFailed) as refusal:
        page_size(-1, 50, 200)
    assert refusal.value.fields == {"page_size": ["Must not be negative. Send 0 for the default."]}


def test_characters_are_counted_in_compact_json_as_people_count_them() -> None:
    assert json_chars({"a": [1, "é部😀"]}) == len('{"a":[1,"é部😀"]}')


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=30), max_size=3)), st.integers(2, 200))
def test_a_cut_list_fits_and_one_more_item_would_not(items: list[dict[str, str]], limit: int) -> None:
    kept, cut = cut_by_size(items, limit)
    assert kept == items[: len(kept)]
    assert cut == (len(kept) < len(items))
    assert not items or kept
    assert len(kept) <= 1 or json_chars(kept) <= limit
    assert not cut or json_chars(items[: len(kept) + 1]) > limit


def test_a_single_item_is_kept_however_large() -> None:
    assert cut_by_size([{"text": "x" * 1000}, {}], 100) == ([{"text": "x" * 1000}], True)


def test_the_size_of_an_answer_is_a_setting() -> None:
    items = [{"text": "x" * 90}] * 10
    with override_settings(ANSWER_CHARS=210):
        assert cut_by_size(items) == (items[:2], True)
        assert json_chars(shorten_texts(items[:2], "text")) <= 210


def test_texts_that_fit_stay_whole() -> None:
    items = [{"text": "x" * 1000}, {"text": None}]
    assert shorten_texts(items, "text", limit=2000) == items


def test_long_texts_are_shortened_alike_and_marked_and_short_ones_stay() -> None:
    items = [{"id": 1, "text": "a" * 5000}, {"id": 2, "text": "short"}, {"id": 3, "text": "b" * 9000}]
    first, second, third = shorten_texts(items, "text", limit=3000)
    assert second == {"id": 2, "text": "short"}
    assert first["truncated"] is third["truncated"] is True
    assert len(first["text"]) == len(third["text"])
    assert 2900 <= json_chars([first, second, third]) <= 3000
    assert items[0] == {"id": 1, "text": "a" * 5000}


def test_texts_are_not_shortened_to_nothing() -> None:
    (only,) = shorten_texts([{"text": "a" * 5000, "other": "b" * 5000}], "text", limit=100)
    assert only == {"text": "a" * 79 + "…", "other": "b" * 5000, "truncated": True}


def test_every_field_that_is_named_is_shortened() -> None:
    (only,) = shorten_texts([{"summary": "a" * 5000, "note": "b" * 5000}], "summary", "note", limit=1000)
    assert len(only["summary"]) == len(only["note"])
    assert 990 <= json_chars([only]) <= 1000
    assert json.loads(json.dumps(only))["truncated"] is True
