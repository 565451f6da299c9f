"""Who is behind the credentials that rows keep (`person:<id>`, `key:<id>`, `grant:<id>`): names for people to read."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import AgentKey, Grant, User

SYSTEM = "Memory Hub"
GONE = "someone who is gone"
ELSEWHERE = {"system": SYSTEM, "staff": "staff of the installation"}


def names_of(account_id: UUID, credentials: Iterable[str]) -> dict[str, str]:
    """Only of this account's people, keys and hosted clients; staff of the installation are told from them, without
    a name. Three queries, whatever their number."""
    wanted = set(credentials)
    people = User.objects.filter(memberships__account_id=account_id, id__in=_ids(wanted, "person"))
    keys = AgentKey.objects.filter(account_id=account_id, id__in=_ids(wanted, "key"))
    grants = Grant.objects.filter(account_id=account_id, id__in=_ids(wanted, "grant"))
    named = {f"person:{p.id}": p.get_full_name() for p in people} | {f"key:{k.id}": k.name for k in keys}
    named |= {f"grant:{g.id}": g.name for g in grants}
    return {c: named.get(c, ELSEWHERE.get(c.partition(":")[0], GONE)) for c in wanted}


def _ids(credentials: set[str], kind: str) -> list[UUID]:
    return [UUID(id) for c in credentials for found, _, id in [c.partition(":")] if found == kind]
