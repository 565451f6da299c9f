"""Values: a JSON value under a namespace and a key, with a version to compare and set by."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import NotFound, ReservedNamespace, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.text import excerpt
from spaces.domain.access import access_space
from spaces.domain.checks import KIB, check_json, check_key, check_name
from spaces.domain.quotas import check_quota
from spaces.domain.versions import check_version, insert_or_lock
from spaces.models import Space, Value

NAMESPACE = r"[a-z0-9_][a-z0-9._-]{0,63}"
RESERVED = "_"
KEY_LENGTH = 128
VALUE_BYTES = 64 * KIB
ENTRY_CHARS = 100  # What a listed entry takes beside its key and value.
SHORTEST, LONGEST_START = 80, 1_000

Ref = str | UUID | None


@dataclass(frozen=True)
class Entry:
    """A key of a listed namespace. Where `start` is given, the value is too long to list: so it begins."""

    key: str
    value: Any
    version: int
    updated_at: datetime
    start: str | None = None


@dataclass(frozen=True)
class Namespace:
    """The first keys of a namespace, as many as an answer has room for, and how many there are."""

    entries: list[Entry]
    total: int


@dataclass(frozen=True)
class NamespaceSize:
    namespace: str
    keys: int
    updated_at: datetime


def set_value(
    actor: Actor,
    namespace: str,
    key: str,
    value: Any,
    *,
    expected_version: int | None = None,
    space: Ref = None,
) -> tuple[Value, bool]:
    """Set the value and raise its version: (the value, created). `expected_version` 0 = create only."""
    _check_writable(namespace)
    check_json(value, VALUE_BYTES, "value")
    within = access_space(actor, space, right=Right.WRITE)
    now = timezone.now()
    new = Value(
        account_id=within.account_id,
        space=within,
        namespace=namespace,
        key=checked_key(key),
        value=value,
        written_by=actor.key,
        created_at=now,
        updated_at=now,
    )
    same = Value.objects.inside(within).at(new.namespace, new.key)
    with transaction.atomic():
        stored, created = insert_or_lock(new, same, "value", expected_version=expected_version)
        if created:
            check_quota(Value, within.account_id, within.id)
        else:
            _overwrite(stored, new)
        record_event(actor, "value.set", "value", typed_id("val", stored.id), space_id=within.id)
    return stored, created


def _overwrite(stored: Value, new: Value) -> None:
    stored.value, stored.version = new.value, stored.version + 1
    stored.written_by, stored.updated_at = new.written_by, new.updated_at
    stored.save(update_fields=["value", "version", "written_by", "updated_at"])


def delete_value(
    actor: Actor, namespace: str, key: str, *, expected_version: int | None = None, space: Ref = None
) -> Value:
    """The key is gone, and would start again at version 1."""
    _check_writable(namespace)
    within = access_space(actor, space, right=Right.WRITE)
    with transaction.atomic():
        stored = _find(within, namespace, key, lock=True)
        check_version(stored, expected_version, "value")
        record_event(actor, "value.deleted", "value", typed_id("val", stored.id), space_id=within.id)
        Value.objects.inside(within).filter(id=stored.id).delete()
    return stored


def access_value(actor: Actor, namespace: str, key: str, *, space: Ref = None) -> Value:
    return _find(access_space(actor, space), namespace, key)


def _find(within: Space, namespace: str, key: str, *, lock: bool = False) -> Value:
    values = Value.objects.inside(within).at(namespace, check_key(key, KEY_LENGTH))
    found = (values.select_for_update(no_key=True) if lock else values).first()
    if found is None:
        raise NotFound("value")
    return found


def checked_key(key: str) -> str:
    if not key:
        raise ValidationFailed({"key": ["Must have at least 1 character."]})
    return check_key(key, KEY_LENGTH)


def _check_writable(namespace: str) -> None:
    check_name(namespace, NAMESPACE, "ns")
    if namespace.startswith(RESERVED):
        raise ReservedNamespace("ns: Namespaces that start with _ are reserved. Choose another one.")


def list_values(
    actor: Actor, namespace: str, *, limit: int = 50, cursor: str | None = None, space: Ref = None
) -> Page[Value]:
    """By key."""
    within = access_space(actor, space)
    return page_of(
        Value.objects.inside(within).filter(namespace=namespace),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "values", "space": within.id, "namespace": namespace},
        order=("key", "id"),
        field="cursor",
    )


def read_namespace(actor: Actor, namespace: str, *, space: Ref = None) -> Namespace:
    """Every key of it in one answer, as far as there is room; each value then has an equal share."""
    values = Value.objects.inside(access_space(actor, space)).filter(namespace=namespace)
    total, chars = values.size()
    room = settings.ANSWER_CHARS - total * ENTRY_CHARS
    share = room if chars <= room else max(room // max(total, 1), SHORTEST)
    rows = values.cut_to(share).order_by("key", "id")[: settings.ANSWER_CHARS // ENTRY_CHARS + 1]
    return Namespace([Entry(*row) for row in rows], total)


def entry_of(value: Value) -> Entry:
    """As it is listed: a value that would fill an answer alone is cut."""
    text = value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False)
    if len(text) + ENTRY_CHARS <= settings.ANSWER_CHARS // 2:
        return Entry(value.key, value.value, value.version, value.updated_at)
    return Entry(value.key, None, value.version, value.updated_at, excerpt(text, LONGEST_START))


def read_values(actor: Actor, space: Space, namespaces: Collection[str], *, limit: int = 200) -> list[Value]:
    """By namespace, in the order asked for, then by key."""
    order = {namespace: place for place, namespace in enumerate(dict.fromkeys(namespaces))}
    found = Value.objects.visible_to(actor).inside(space).filter(namespace__in=list(order))
    return sorted(found.order_by("namespace", "key", "id")[:limit], key=lambda v: order[v.namespace])


def list_namespaces(actor: Actor, *, space: Ref = None) -> list[NamespaceSize]:
    counted = Value.objects.inside(access_space(actor, space)).values("namespace")
    rows = counted.annotate(keys=Count("id"), last=Max("updated_at")).order_by("namespace")
    return [NamespaceSize(row["namespace"], row["keys"], row["last"]) for row in rows]
