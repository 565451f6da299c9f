"""Everything that one key or one conversation wrote, so that it can be looked at and forgotten in one go."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.actor import Actor
from accounts.domain.grants import access_grant
from accounts.domain.keys import access_key
from accounts.scopes import Right
from memoryhub.common.canonical import digest
from memoryhub.common.errors import Conflict, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.text import excerpt
from memoryhub.flows.forgetting import Reached, forget
from memoryhub.flows.transfers import drop_exports
from spaces.domain.access import access_space
from spaces.domain.kinds import SAMPLE, Hit, Kind, all_kinds
from spaces.domain.phrases import texts_in
from spaces.models import Space

LONGEST = 200
"""Characters of a field that are looked at for a sample."""
UNTOLD = (
    "id",
    "account",
    "space",
    "written_by",
    "created_at",
    "updated_at",
    "agent",
    "session",
    "origin",
    "trigger",
)


def written(actor: Actor, *, key: str = "", session: str = "") -> dict[str, Reached]:
    """By kind, what stands in the space of the call as that key or conversation wrote it, held and expired memories
    included, and what would go along with it. What somebody else has changed since is theirs. Exactly one of the
    two is named.
    """
    space, source = _source(actor, key, session)
    by_name = _rows(space, source, [kind for kind in all_kinds() if _goes_by_name(kind)])
    reached = _forget(actor, by_name, dry_run=True)
    for kind, rows in _rows(space, source, [kind for kind in all_kinds() if kind.whole]).items():
        scope, hits = (
            kind.forgetting.scope if kind.forgetting else f"{kind.name}s",
            [_hit(row) for row in rows],
        )
        along = reached.get(scope, Reached(kind.prefix, []))
        own = {hit.id for hit in hits}
        reached[scope] = replace(along, hits=[*hits, *(hit for hit in along.hits if hit.id not in own)])
    return {scope: found for scope, found in reached.items() if found.hits}


@transaction.atomic
def forget_written(actor: Actor, *, expected: str, key: str = "", session: str = "") -> int:
    """All of the rows that were listed and no other, or none. `expected` is the digest of that list."""
    space, source = _source(actor, key, session, right=Right.WRITE)
    listed = written(actor, key=key, session=session)
    if digest_of(listed) != expected:
        raise Conflict("The list has changed since it was shown. Nothing is forgotten; look at it again.")
    drop_exports(actor.account_id)
    for kind, rows in _rows(space, source, [kind for kind in all_kinds() if kind.whole]).items():
        assert kind.whole is not None
        kind.whole(actor, [row.pk for row in rows])
    _forget(actor, _rows(space, source, [kind for kind in all_kinds() if _goes_by_name(kind)]))
    return sum(len(found.hits) for found in listed.values())


def digest_of(reached: Mapping[str, Reached]) -> str:
    return digest({scope: sorted(found.ids) for scope, found in reached.items()})


def _source(actor: Actor, key: str, session: str, *, right: Right = Right.READ) -> tuple[Space, Q]:
    if bool(key) == bool(session):
        raise ValidationFailed({"key": ["Name either a key or a session."]})
    space = access_space(actor, right=right)
    return space, Q(session=session) if session else Q(written_by=_writer(actor, key))


def _writer(actor: Actor, credential: str) -> str:
    """A key, or by its typed id a client that was let in."""
    if credential.startswith("grt_"):
        return f"grant:{access_grant(actor, credential).id}"
    return f"key:{access_key(actor, credential).id}"


def _goes_by_name(kind: Kind) -> bool:
    return kind.forgetting is not None and not kind.forgetting.along


def _rows(space: Space, source: Q, kinds: Sequence[Kind]) -> dict[Kind, list[Any]]:
    """Of each kind that tells who wrote it, if there are any."""
    [(field, _)] = source.children  # type: ignore[misc]
    found: dict[Kind, list[Any]] = {}
    for kind in kinds:
        model: Any = apps.get_model(kind.model_label)
        if field in {known.name for known in model._meta.concrete_fields}:
            rows: QuerySet[Any] = model._default_manager.filter(
                source, account_id=space.account_id, space_id=space.id
            )
            if here := list(rows.order_by("id")):
                found[kind] = here
    return found


def _forget(actor: Actor, rows: Mapping[Kind, Sequence[Any]], *, dry_run: bool = False) -> dict[str, Reached]:
    if not rows:
        return {}
    ids = [typed_id(kind.prefix, row.pk) for kind, found in rows.items() for row in found]
    scopes = [kind.forgetting.scope for kind in rows if kind.forgetting]
    rehearsed = forget(actor, ids=ids, scopes=scopes, dry_run=True)
    return rehearsed if dry_run else forget(actor, ids=ids, scopes=scopes)


def _hit(row: Any) -> Hit:
    fields = [f.name for f in row._meta.concrete_fields if f.name not in UNTOLD and not f.is_relation]
    told = (getattr(row, name) for name in fields)
    texts = (
        text[:LONGEST] for value in told if isinstance(value, str | list | dict) for text in texts_in(value)
    )
    return Hit(row.pk, excerpt(" ".join(text for text in texts if text), SAMPLE))
