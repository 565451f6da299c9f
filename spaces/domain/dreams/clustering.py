"""Consolidation without a model: near-identical memories become proposals to merge. Daily, in every space."""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.actor import system_actor
from accounts.domain.jobs import enqueue
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain.dreams.briefs import read_as, suitable
from spaces.domain.dreams.clusters import Cluster, Statement, find_clusters
from spaces.domain.dreams.lane import CLUSTER, DREAMING
from spaces.domain.dreams.rules import MERGED_TEXT
from spaces.domain.dreams.runs import MAX_CHANGES, Chosen, begin, give_way, lock_dreams, open_run
from spaces.domain.dreams.settling import settle
from spaces.domain.dreams.shape import Proposed
from spaces.models import DreamChange, DreamRun, Memory, Space

DAILY = time(3, 30)
PAGE = 2_000
Merge = tuple[frozenset[UUID], str]
"""Of which memories, into which text."""
NOTE = "They say the same in nearly the same words."


def cluster_space(account_id: UUID, space_id: UUID) -> DreamRun | None:
    """Read, compare with nothing held, then propose. To be called outside of any transaction."""
    with tenant(account_id):
        space = Space.objects.get(account_id=account_id, id=space_id)
        if open_run(space, timezone.now()):
            return None  # its turn comes again
        statements, settled = list(_statements(space)), _settled(space)
    clusters = [cluster for cluster in find_clusters(statements) if _told(cluster) not in settled]
    with tenant(account_id):
        return _propose(account_id, space_id, clusters[:MAX_CHANGES])


def _statements(space: Space) -> Iterator[Statement]:
    rows = suitable(space).filter(pinned=False).order_by("id")
    fields = ("id", "text", "kind", "subject", "path", "metadata", "origin")
    for id, text, kind, subject, path, metadata, origin in rows.values_list(*fields).iterator(PAGE):
        if len(text) <= MERGED_TEXT:
            place = (kind, subject, path.lower(), str(metadata.get("user_id")))
            yield Statement(id, text, place, said_by_user=origin == "user")


def _settled(space: Space) -> set[Merge]:
    """What a person has declined or taken back is not proposed again."""
    changes = DreamChange.objects.filter(account_id=space.account_id, run__space_id=space.id)
    merges = changes.filter(Q(state="undone") | Q(code="declined"), run__kind="clusters")
    told = merges.values_list("memories", "proposal__text")
    return {(frozenset(ids), text) for ids, text in told}


def _told(cluster: Cluster) -> Merge:
    return frozenset(member.id for member in cluster.members), cluster.keep.text


def _propose(account_id: UUID, space_id: UUID, clusters: Sequence[Cluster]) -> DreamRun | None:
    space = Space.objects.get(account_id=account_id, id=space_id)
    lock_dreams(space)
    now = timezone.now()
    if open_run(space, now):
        return None
    Space.objects.filter(account_id=account_id, id=space_id).update(clustered_at=now)
    chosen = _chosen(space, clusters)
    changes = [change for change in map(_merge, range(len(clusters)), clusters) if _all_in(change, chosen)]
    if waiting := _waiting_alike(space, changes, chosen):
        return waiting
    give_way(space)
    if not changes:
        return None
    actor = system_actor(account_id)
    run = begin(actor, space, kind="clusters", thinker="rules", chosen=chosen)
    settle(actor, run, changes, "")
    if run.status == "applied" and len(clusters) == MAX_CHANGES:
        enqueue(CLUSTER, account_id, space_id, lane=DREAMING)
    return run


def _waiting_alike(space: Space, changes: Sequence[Proposed], chosen: Chosen) -> DreamRun | None:
    """What is proposed may have waited since yesterday."""
    run = DreamRun.objects.inside(space).giving_way().filter(input=chosen.input).first()
    proposed = {frozenset(change.ids) for change in changes}
    waiting = run.changes.values_list("memories", flat=True) if run else ()
    return run if proposed == {frozenset(typed_id("mem", id) for id in ids) for ids in waiting} else None


def _chosen(space: Space, clusters: Sequence[Cluster]) -> Chosen:
    """Those that still say what was compared."""
    compared = {member.id: member.text for cluster in clusters for member in cluster.members}
    rows = Memory.objects.active().inside(space).filter(id__in=list(compared))
    return Chosen({row.id.hex: read_as(row) for row in rows if row.text == compared[row.id]})


def _all_in(change: Proposed, chosen: Chosen) -> bool:
    return all(id.removeprefix("mem_") in chosen.input for id in change.ids)


def _merge(number: int, cluster: Cluster) -> Proposed:
    ids = tuple(typed_id("mem", member.id) for member in cluster.members)
    return Proposed(number, "merge", ids, {"text": cluster.keep.text}, NOTE)


def is_time(last: datetime | None, now: datetime) -> bool:
    """Whether the moment of the day has passed since: a hub that was off then makes up for it."""
    moment = datetime.combine(now.date(), DAILY, tzinfo=now.tzinfo)
    latest = moment if moment <= now else moment - timedelta(days=1)
    return last is None or last < latest
