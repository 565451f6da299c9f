"""The queue. A job is a row; Celery only wakes a worker, and a periodic sweep finds what a broker lost."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

from accounts.domain.waking import Waker
from accounts.models import Account, Job
from memoryhub.common.ids import new_id
from memoryhub.common.postgres.statements import rows_of, run
from memoryhub.common.tenancy import tenant

log = logging.getLogger(__name__)

RETRY_SECONDS = (1, 5, 30, 120, 600)
FAULTY = timedelta(seconds=30)
Wait = timedelta | None


_lanes: dict[str, "Lane"] = {}


@dataclass(frozen=True)
class Lane:
    """Jobs with workers' time of their own. `task` is the Celery task that looks for them.

    A claimed job is nobody else's for the time of the `lease`; after that its worker counts as gone.
    """

    name: str
    task: str
    lease: timedelta = timedelta(minutes=5)

    def __post_init__(self) -> None:
        _lanes[self.name] = self


MAIN = Lane("", task="accounts.tasks.run_jobs", lease=timedelta(seconds=5))
"""Jobs that each run inside their account's transaction, which also holds them: however long one takes, it is nobody
else's, and it is free again within the lease once its worker is gone. Other lanes are for what waits for something
outside."""

# One statement each, and by hand: a job goes with every write, and workers ask for jobs all the time.
ADD = """
    insert into accounts_job (id, lane, kind, account_id, object_id, run_after, tries, last_error)
    select id, %s, %s, account_id, object_id, %s, 0, ''
      from unnest(%s::uuid[], %s::uuid[], %s::uuid[]) as job (id, account_id, object_id)
"""
FINISH = "delete from accounts_job where id = any(%s::uuid[])"
FREE = "run_after <= %(due_by)s and (leased_until is null or leased_until <= %(now)s)"
DUE = f"lane = %(lane)s and {FREE}"
WAITED_FOR = f"""
    select name from unnest(%(lanes)s::text[]) as known (name)
     where exists (select from accounts_job where lane = known.name and {FREE})
"""  # noqa: S608 (constants)
LEASE = """
    update accounts_job job set leased_until = %(until)s, tries = tries + 1
      from due where job.id = due.id
    returning job.id, lane, kind, account_id, object_id, run_after, leased_until, last_error, tries - 1 as tries
"""
TAKE = f"""
    with due as materialized (
        select id from accounts_job where {DUE}
         order by {{order}} limit %(limit)s for update skip locked
    )
    {LEASE}
"""  # noqa: S608 (constants)
OLDEST = TAKE.format(order="run_after, id")
NEWEST = TAKE.format(order="run_after desc, id desc")
OLDEST_AND_ALIKE = f"""
    with first as materialized (
        select id, kind, account_id, object_id from accounts_job where {DUE}
         order by run_after, id limit 1 for update skip locked
    ), due as materialized (
        select id from accounts_job
         where {DUE} and (kind, account_id) = (select kind, account_id from first)
           and object_id is not distinct from (select object_id from first)
           for update skip locked
    ), leased as ({LEASE})
    select leased.*, array(select id from leased) as alike from leased join first using (id)
"""  # noqa: S608
STILL_LEASED = """
    select count(*) from (
        select from accounts_job where id = any(%s::uuid[]) and leased_until = %s for update skip locked
    ) as held
"""

Handler = Callable[[Job], None]
_handlers: dict[str, Handler] = {}
_waker = Waker()


def job(kind: str) -> Callable[[Handler], Handler]:
    """Register what runs for jobs of this kind in the main lane, inside the account's tenant()."""

    def register(handler: Handler) -> Handler:
        _handlers[kind] = handler
        return handler

    return register


def enqueue(
    kind: str,
    account_id: UUID,
    object_id: UUID | None = None,
    *,
    run_after: datetime | None = None,
    lane: Lane = MAIN,
) -> None:
    """Add a job in the current transaction; a worker is woken once it is committed."""
    enqueue_each(kind, account_id, [object_id], run_after=run_after, lane=lane)


def enqueue_each(
    kind: str,
    account_id: UUID,
    object_ids: Iterable[UUID | None],
    *,
    run_after: datetime | None = None,
    lane: Lane = MAIN,
) -> None:
    """A job for each object, in one statement."""
    _add([(account_id, id) for id in object_ids], kind, run_after, lane)


def enqueue_everywhere(kind: str, *, lane: Lane = MAIN) -> None:
    """A job for each account."""
    _add([(id, None) for id in Account.objects.values_list("id", flat=True)], kind, None, lane)


def _add(
    objects: Sequence[tuple[UUID, UUID | None]], kind: str, run_after: datetime | None, lane: Lane
) -> None:
    if not objects:
        return
    accounts, ids = map(list, zip(*objects, strict=True))
    due = run_after or timezone.now()
    run(ADD, [lane.name, kind, due, [new_id() for _ in ids], accounts, ids])
    if run_after is None:
        transaction.on_commit(lambda: wake(lane), robust=True)


def wake(lane: Lane = MAIN) -> None:
    """Have a worker look for what is due, soon; whoever calls does not wait for the broker."""
    _waker.wake(lane.task)


def wake_lanes() -> None:
    """Those in which something is due: a message may have been lost, and what was put off has none."""
    now = timezone.now()
    for (name,) in rows_of(WAITED_FOR, {"lanes": list(_lanes), "now": now, "due_by": now}):
        wake(_lanes[name])


def run_due_jobs(limit: int = 200) -> int:
    """Claim what is due by now and run it, job by job, until nothing is left or the limit is reached. What comes
    meanwhile has its own wake-up: whoever writes on and on keeps nobody busy with a job at a time."""
    done, now = 0, timezone.now()
    while done < limit and (claimed := _claim(now)):
        _run(claimed)
        done += len(claimed.ids)
    return done


@dataclass(frozen=True)
class Claimed:
    """The oldest due job, and the ids of it and of every other that was due for the same: one run serves them all."""

    job: Job
    ids: list[UUID]


def _claim(due_by: datetime) -> Claimed | None:
    oldest = next(iter(_taken(OLDEST_AND_ALIKE, MAIN, due_by=due_by)), None)
    return Claimed(oldest, oldest.alike) if oldest else None  # type: ignore[attr-defined]


def claim(lane: Lane, limit: int, *, newest: int = 0) -> list[Job]:
    """Lease the oldest due jobs of a lane, and of the rest some of the newest: a long queue holds up neither.

    Each must be told the outcome: `finish`, `postpone`, `move_on` or `release`. `tries` are those before this one.
    """
    oldest = _taken(OLDEST, lane, limit)
    return oldest if not newest or len(oldest) < limit else oldest + _taken(NEWEST, lane, newest)


def _taken(
    statement: str, lane: Lane, limit: int | None = None, *, due_by: datetime | None = None
) -> list[Job]:
    """In the order of their time."""
    now = timezone.now()
    asked = {
        "lane": lane.name,
        "now": now,
        "due_by": due_by or now,
        "until": now + lane.lease,
        "limit": limit,
    }
    found = sorted(Job.objects.raw(statement, asked), key=lambda job: (job.run_after, job.id))
    return found[::-1] if statement is NEWEST else found


def finish(jobs: Sequence[Job]) -> None:
    """In the transaction of what they did: it is done, and they are gone, or neither."""
    _finish([job.id for job in jobs])


def postpone(jobs: Sequence[Job], error: str, wait: timedelta) -> None:
    """They failed; try them again later."""
    _postpone([job.id for job in jobs], error, wait)


def release(jobs: Sequence[Job]) -> None:
    """They were not tried after all: due at once, for anybody."""
    _these(jobs).update(leased_until=None, tries=models.F("tries") - 1)


def move_on(job: Job, object_id: UUID) -> None:
    """Its part is done; what is left of it begins after that object, and has its turn after what is due."""
    _these([job]).update(object_id=object_id, leased_until=None, run_after=timezone.now(), tries=0)


def extend(lane: Lane, jobs: Sequence[Job]) -> None:
    """The lease begins anew on those that are still held as they were: their worker is alive and not through yet."""
    until = timezone.now() + lane.lease
    _these(jobs).filter(leased_until__in={job.leased_until for job in jobs}).update(leased_until=until)
    for job in jobs:
        job.leased_until = until


def work_off(lane: Lane, handle: Callable[[Job], Wait]) -> int:
    """Deal with what is due in a lane, one after the other, until nothing is left. Answers how many jobs there were.
    `handle` tells when to come back to one, or None when it is done."""
    done = 0
    while jobs := claim(lane, 1):
        _work_on(jobs[0], handle)
        done += 1
    return done


def _work_on(job: Job, handle: Callable[[Job], Wait]) -> None:
    try:
        wait = handle(job)
    except Exception as error:
        log.exception("job %s of kind %s failed", job.id, job.kind)
        postpone([job], type(error).__name__, FAULTY)
        return
    if wait is None:
        finish([job])
    else:
        postpone([job], "", wait)


@contextmanager
def kept(lane: Lane, jobs: Sequence[Job]) -> Iterator[None]:
    """Meanwhile the lease on claimed jobs does not end, unless this process does."""
    over = threading.Event()
    thread = threading.Thread(target=_keep, args=[lane, jobs, over], name="keep jobs", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _keep(lane: Lane, jobs: Sequence[Job], over: threading.Event) -> None:
    while not over.wait(lane.lease.total_seconds() / 3):
        try:
            extend(lane, jobs)
        except DatabaseError:
            log.warning("the lease on jobs could not be extended")
        finally:
            connection.close()


def _these(jobs: Sequence[Job]) -> models.QuerySet[Job]:
    return Job.objects.filter(id__in=[job.id for job in jobs])


def _finish(ids: Sequence[UUID]) -> None:
    run(FINISH, [ids])


def _postpone(ids: Sequence[UUID], error: str, wait: timedelta) -> None:
    due = timezone.now() + wait
    Job.objects.filter(id__in=ids).update(leased_until=None, run_after=due, last_error=error)


def _run(claimed: Claimed) -> None:
    """Another worker may have taken them over if this one was held up for longer than the lease."""
    job = claimed.job
    try:
        with tenant(job.account_id):
            if _is_held(claimed):
                _handlers[job.kind](job)
                _finish(claimed.ids)
    except Exception as error:
        log.exception("job %s of kind %s failed", job.id, job.kind)
        seconds = RETRY_SECONDS[min(job.tries, len(RETRY_SECONDS) - 1)]
        _postpone(claimed.ids, type(error).__name__, timedelta(seconds=seconds))


def _is_held(claimed: Claimed) -> bool:
    """Lock them until the end of the transaction. Whether all are still as they were claimed."""
    ((count,),) = rows_of(STILL_LEASED, [claimed.ids, claimed.job.leased_until])
    return bool(count == len(claimed.ids))
