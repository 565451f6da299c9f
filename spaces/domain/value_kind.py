"""How values leave and arrive. No query to forget reaches them: they are deleted by key."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from accounts.actor import Actor
from memoryhub.common.errors import ReservedNamespace
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.arriving import Fields, Shape, arrive, written_by
from spaces.domain.checks import check_json, check_name
from spaces.domain.kinds import Arrival, Kept, Kind, Row, in_batches, register_kind
from spaces.domain.values import NAMESPACE, RESERVED, VALUE_BYTES, checked_key
from spaces.domain.whole import erase_rows
from spaces.models import Space, Value


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    if space is not None:
        yield from map(tell, in_batches(Value.objects.visible_to(actor).inside(space)))


def tell(value: Value) -> Row:
    return {
        "id": typed_id("val", value.id),
        "namespace": value.namespace,
        "key": value.key,
        "value": value.value,
        "version": value.version,
        "written_by": value.written_by,
        "created_at": format_time(value.created_at),
        "updated_at": format_time(value.updated_at),
    }


def read(arrival: Arrival, row: Fields) -> Value:
    namespace = check_name(row.text("namespace"), NAMESPACE, "namespace")
    if namespace.startswith(RESERVED):
        raise ReservedNamespace("namespace: Those that start with `_` are written by the hub alone.")
    if "value" not in row.row:
        raise row.refused("value", "Is missing. null is a value too.")
    check_json(row.row["value"], VALUE_BYTES, "value")
    return Value(
        space=arrival.space,
        namespace=namespace,
        key=checked_key(row.text("key")),
        value=row.row["value"],
        version=row.whole("version", 1, least=1),
        written_by=written_by(row),
        created_at=row.moment("created_at", arrival.now),
        updated_at=row.moment("updated_at", arrival.now),
    )


def standing(arrival: Arrival, values: Sequence[Value]) -> Iterable[Value]:
    assert arrival.space is not None
    places = {(value.namespace, value.key) for value in values}
    rows = Value.objects.inside(arrival.space).filter(key__in={key for _, key in places})
    return (row for row in rows if (row.namespace, row.key) in places)


SHAPE = Shape(
    prefix="val",
    model=Value,
    read=read,
    tell=tell,
    place=lambda value: (value.namespace, value.key),
    standing=standing,
    stated=("value",),
    event=("value.set", "value"),
)

VALUES = register_kind(
    Kind(
        prefix="val",
        model_label="spaces.Value",
        export=export,
        arrive=partial(arrive, SHAPE),
        kept=(Kept("spaces.Value", ("value",), names=("namespace", "key")),),
        whole=partial(erase_rows, Value, "val", ("value.deleted", "value")),
    )
)
