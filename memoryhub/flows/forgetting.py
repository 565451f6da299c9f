"""Forgetting, over every kind of stored thing that a query can reach. Permanent: nothing brings the text back.

An action keeps what it says: it is the record of what people agreed to.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.core.cache import cache
from django.db import transaction

from accounts.actor import Actor
from accounts.scopes import Right, Scope
from memoryhub.common.canonical import digest
from memoryhub.common.errors import Forbidden, ValidationFailed
from memoryhub.common.ids import ID_PREFIXES, parse_id, typed_id
from memoryhub.flows.transfers import drop_exports
from spaces.domain.access import access_space
from spaces.domain.kinds import (
    Forgetting,
    Forgotten,
    Hit,
    Kind,
    Selection,
    Trace,
    forgettable_kinds,
    kinds_along,
    scrub_copies,
)
from spaces.domain.search.normalise import UNSPACED
from spaces.domain.search.tokens import every_word

UNREHEARSED = 200
REHEARSAL_SECONDS = 600
SHORTEST_QUERY = 3
MEMORIES = "memories"
NOTHING = Forgotten()


@dataclass(frozen=True)
class Reached:
    """What was reached in one scope, and what became of it: nothing in a dry run."""

    prefix: str
    hits: Sequence[Hit]
    forgotten: Forgotten = NOTHING

    @property
    def ids(self) -> list[str]:
        return [typed_id(hit.prefix or self.prefix, hit.id) for hit in self.hits]


@dataclass(frozen=True)
class _Step:
    prefix: str
    way: Forgetting
    selection: Selection


def forget(
    actor: Actor,
    *,
    ids: Sequence[str] = (),
    query: str = "",
    scopes: Sequence[str] = (MEMORIES,),
    redact: bool = True,
    dry_run: bool = False,
) -> dict[str, Reached]:
    """Forget what `ids` name and what holds the query, in the space of the call and the account as a whole; and with
    it what else tells of the same: summaries and captured candidates with memories, the ledger with records.

    All or nothing. More than UNREHEARSED hits need a dry run first: the same actor, with the same arguments,
    in the last ten minutes. `redact` spares journal entries that the query finds and cuts the phrase out.
    Answered by scope: each that was asked for, and what was reached along with it.
    """
    _check_scopes(actor, scopes)
    _check_selectors(ids, query)
    space = access_space(actor, right=Right.WRITE if query else Right.READ)
    base = Selection(space, query=query.strip(), redact=redact)
    steps = _steps(scopes, ids, base)
    rehearsal = _rehearsal(actor, steps)
    with transaction.atomic():
        reached = {scope: _find(actor, step) for scope, step in steps.items()}
        along = _steps_along(base, reached)
        beside = {scope: found for scope, step in along.items() if (found := _find(actor, step)).hits}
        everything = {**reached, **beside}
        if dry_run:
            cache.set(rehearsal, True, REHEARSAL_SECONDS)
            return everything
        _check_rehearsed(rehearsal, sum(len(found.hits) for found in everything.values()))
        drop_exports(actor.account_id)
        beside = {scope: _erase(actor, along[scope], found) for scope, found in beside.items()}
        reached = {scope: _erase(actor, steps[scope], found) for scope, found in reached.items()}
        for scope in steps if query else ():
            scrub_copies(actor, Trace(selection=base, words=scope == MEMORIES))
        return {**reached, **beside}


def _find(actor: Actor, step: _Step) -> Reached:
    hits = step.way.find(actor, step.selection)
    if not actor.scopes.issuperset(step.way.reads):
        hits = [replace(hit, sample="") for hit in hits]
    return Reached(step.prefix, hits)


def _erase(actor: Actor, step: _Step, found: Reached) -> Reached:
    return replace(found, forgotten=step.way.erase(actor, step.selection, found.hits))


def _steps_along(base: Selection, reached: Mapping[str, Reached]) -> dict[str, _Step]:
    """By scope, what is reached together with those that were asked for."""
    going = reached[MEMORIES].hits if MEMORIES in reached else ()
    selection = replace(base, memories=tuple(hit.id for hit in going if not hit.earlier))
    if not base.query and not selection.memories:
        return {}
    kinds = {along: kind for scope in reached for along, kind in kinds_along(scope).items()}
    return {scope: _step(kind, selection) for scope, kind in kinds.items()}


def _step(kind: Kind, selection: Selection) -> _Step:
    assert kind.forgetting is not None
    return _Step(kind.prefix, kind.forgetting, selection)


def _check_scopes(actor: Actor, scopes: Sequence[str]) -> None:
    known = forgettable_kinds()
    if not scopes or not known.keys() >= set(scopes):
        raise ValidationFailed({"scopes": [f"Must be one or more of {', '.join(known)}."]})
    if set(scopes) != {MEMORIES} and Scope.SPACE_WRITE not in actor.scopes:
        raise Forbidden(
            "Forgetting records or journal text needs the scope space:write as well.",
            missing_scopes=[str(Scope.SPACE_WRITE)],
        )


def _check_selectors(ids: Sequence[str], query: str) -> None:
    if not query and not ids:
        raise ValidationFailed({"ids": ["Send ids or a query: what is to be forgotten?"]})
    shortest = 1 if re.search(f"[{UNSPACED}]", query) else SHORTEST_QUERY
    if query and (len(query.strip()) < shortest or not every_word(query)):
        raise ValidationFailed({"query": [f"Must have a word and at least {SHORTEST_QUERY} characters."]})


def _steps(scopes: Iterable[str], ids: Iterable[str], base: Selection) -> dict[str, _Step]:
    """By scope, in the registry's order whatever the caller's."""
    kinds = {scope: kind for scope, kind in forgettable_kinds().items() if scope in scopes}
    named: dict[str, set[UUID]] = {kind.prefix: set() for kind in kinds.values()}
    for id in ids:
        prefix = _prefix(id)
        if prefix not in named:
            raise ValidationFailed({"ids": [f"To forget a {ID_PREFIXES[prefix]}, name its kind in scopes."]})
        named[prefix].add(parse_id(prefix, id))
    return {
        scope: _step(kind, replace(base, ids=tuple(sorted(named[kind.prefix]))))
        for scope, kind in kinds.items()
    }


def _prefix(id: str) -> str:
    """What isn't plainly the id of another kind is read as a memory's."""
    prefix = id.partition("_")[0]
    return prefix if prefix in {kind.prefix for kind in forgettable_kinds().values()} else "mem"


def _rehearsal(actor: Actor, steps: Mapping[str, _Step]) -> str:
    """Names a call by who makes it and what it would forget, without holding any of its text."""
    asked = [
        [scope, *map(str, step.selection.ids), step.selection.query, step.selection.redact]
        for scope, step in steps.items()
    ]
    space = next(iter(steps.values())).selection.space
    return f"forget:{digest([str(actor.account_id), actor.key, str(space.id), asked])}"


def _check_rehearsed(rehearsal: str, hits: int) -> None:
    """A rehearsal serves once. An expired one may still be there to delete, but not to get."""
    if hits > UNREHEARSED and not (cache.get(rehearsal) and cache.delete(rehearsal)):
        raise ValidationFailed(
            {
                "dry_run": [
                    f"This reaches {hits} items. Call it with dry_run true first, and then within 10 minutes."
                ]
            }
        )
