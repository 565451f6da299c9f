from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from queue import SimpleQueue
from uuid import UUID

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from accounts.domain import jobs
from accounts.domain.jobs import enqueue, run_due_jobs
from accounts.domain.waking import Waker
from accounts.models import Job
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def ran() -> Iterator[list[Job]]:
    """A kind of job that notes what it was run for, and fails while `broken` is set on it."""
    seen: list[Job] = []
    jobs.job("test")(seen.append)
    yield seen
    jobs._handlers.pop("test")


def test_a_due_job_runs_once_and_is_gone(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    enqueue("test", cast.account.id)
    assert (run_due_jobs(), run_due_jobs()) == (1, 0)
    assert len(ran) == 1
    assert not Job.objects.exists()


def test_equal_jobs_are_served_by_one_run(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    for _ in range(5):
        enqueue("test", cast.account.id)
    assert run_due_jobs() == 5
    assert len(ran) == 1


def test_a_job_that_comes_meanwhile_is_left_to_the_next_wake_up(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()

    def begets(job: Job) -> None:
        enqueue("test", job.account_id)

    jobs.job("begetting")(begets)
    enqueue("begetting", cast.account.id)
    assert (run_due_jobs(), ran) == (1, [])
    assert run_due_jobs() == 1
    jobs._handlers.pop("begetting")


def test_a_job_waits_for_its_time(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    enqueue("test", cast.account.id, run_after=timezone.now() + timedelta(hours=1))
    assert run_due_jobs() == 0
    with time_machine.travel(timezone.now() + timedelta(hours=2), tick=False):
        assert run_due_jobs() == 1


def test_a_job_of_a_rolled_back_change_never_runs(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue("test", cast.account.id)
        raise ZeroDivisionError
    assert run_due_jobs() == 0
    assert ran == []


def test_a_failing_job_is_tried_again_later_and_says_why(
    cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    Job.objects.all().delete()

    def fail(due: Job) -> None:
        raise LookupError("stored text")

    jobs.job("test")(fail)
    enqueue("test", cast.account.id)
    with time_machine.travel("2026-11-30T10:00:00Z", tick=False):
        Job.objects.update(run_after=timezone.now())
        run_due_jobs()
        row = Job.objects.get()
        assert (row.tries, row.last_error, row.leased_until) == (1, "LookupError", None)
        assert row.run_after > timezone.now()
    jobs._handlers.pop("test")


def test_a_leased_job_is_left_alone_until_its_lease_ends(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    enqueue("test", cast.account.id)
    Job.objects.update(leased_until=timezone.now() + jobs.MAIN.lease)
    assert run_due_jobs() == 0
    with time_machine.travel(timezone.now() + jobs.MAIN.lease + timedelta(seconds=1), tick=False):
        assert run_due_jobs() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_run_is_nobody_elses_however_long_it_takes(cast: Cast) -> None:
    Job.objects.all().delete()
    ran: list[int] = []

    def long(due: Job) -> None:
        """Meanwhile the lease ends, and another worker looks."""
        with time_machine.travel(timezone.now() + jobs.MAIN.lease + timedelta(seconds=1), tick=False):
            ran.append(in_thread(run_due_jobs))

    jobs.job("test")(long)
    enqueue("test", cast.account.id)
    assert (run_due_jobs(), ran) == (1, [0])
    assert not Job.objects.exists()
    jobs._handlers.pop("test")


def test_a_job_that_another_worker_took_over_is_left_to_it(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    enqueue("test", cast.account.id)
    held_up = jobs._claim(timezone.now())
    with time_machine.travel(timezone.now() + jobs.MAIN.lease + timedelta(seconds=1), tick=False):
        jobs._claim(timezone.now())
        jobs._run(held_up)
    assert (ran, Job.objects.count()) == ([], 1)


def in_thread(call: Callable[[], int]) -> int:
    def work() -> int:
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(30)


def test_a_handler_runs_inside_the_account(cast: Cast) -> None:
    from spaces.models import Space

    Job.objects.all().delete()
    seen: list[str] = []
    jobs.job("test")(lambda due: seen.extend(Space.objects.values_list("slug", flat=True)))
    with tenant(cast.outsider.account_id):
        pass
    enqueue("test", cast.account.id)
    run_due_jobs()
    jobs._handlers.pop("test")
    assert seen == ["main"]


LANE = jobs.Lane("test lane", task="nobody.listens", lease=timedelta(seconds=30))


def queue(cast: Cast, count: int) -> list[UUID]:
    """Jobs of a lane, one a second."""
    ids = [new_id() for _ in range(count)]
    now = timezone.now()
    for age, id in enumerate(reversed(ids)):
        enqueue("test", cast.account.id, id, run_after=now - timedelta(seconds=age), lane=LANE)
    return ids


def objects(claimed: list[Job]) -> list[UUID | None]:
    return [job.object_id for job in claimed]


def test_a_lane_is_left_alone_by_the_other_and_claimed_many_at_a_time(cast: Cast, ran: list[Job]) -> None:
    Job.objects.all().delete()
    ids = queue(cast, 5)
    assert run_due_jobs() == 0
    assert objects(jobs.claim(LANE, 3)) == ids[:3]
    assert objects(jobs.claim(LANE, 3)) == ids[3:]
    assert jobs.claim(LANE, 3) == []


def test_a_long_queue_does_not_hold_up_its_newest_jobs(cast: Cast) -> None:
    Job.objects.all().delete()
    ids = queue(cast, 10)
    assert objects(jobs.claim(LANE, 4, newest=2)) == [*ids[:4], ids[9], ids[8]]
    assert objects(jobs.claim(LANE, 4, newest=2)) == ids[4:8]


def test_each_outcome_of_a_claimed_job_is_kept(cast: Cast) -> None:
    Job.objects.all().delete()
    ids = queue(cast, 4)
    done, failed, untried, moved = jobs.claim(LANE, 4)
    now, other = timezone.now(), new_id()
    with time_machine.travel(now, tick=False):
        jobs.finish([done])
        jobs.postpone([failed], "no luck", timedelta(seconds=9))
        jobs.release([untried])
        jobs.move_on(moved, other)
    left = {job.id: job for job in Job.objects.all()}
    assert done.id not in left
    assert (left[failed.id].tries, left[failed.id].last_error) == (1, "no luck")
    assert left[failed.id].run_after == now + timedelta(seconds=9)
    assert (left[untried.id].tries, left[untried.id].object_id) == (0, ids[2])
    assert (left[moved.id].tries, left[moved.id].object_id, left[moved.id].run_after) == (0, other, now)
    assert objects(jobs.claim(LANE, 9)) == [ids[2], other]


def test_a_worker_that_is_alive_keeps_its_jobs(cast: Cast) -> None:
    Job.objects.all().delete()
    queue(cast, 1)
    claimed = jobs.claim(LANE, 1)
    now = timezone.now()
    with time_machine.travel(now + timedelta(seconds=20), tick=False):
        jobs.extend(LANE, claimed)
    with time_machine.travel(now + timedelta(seconds=45), tick=False):
        assert jobs.claim(LANE, 1) == []
    with time_machine.travel(now + timedelta(seconds=51), tick=False):
        assert len(jobs.claim(LANE, 1)) == 1


def test_what_was_given_back_is_not_kept_any_longer(cast: Cast) -> None:
    Job.objects.all().delete()
    queue(cast, 3)
    claimed = jobs.claim(LANE, 3)
    jobs.release(claimed[:1])
    jobs.move_on(claimed[1], new_id())
    jobs.extend(LANE, claimed)
    assert {job.id for job in jobs.claim(LANE, 9)} == {claimed[0].id, claimed[1].id}


@pytest.mark.django_db(transaction=True)
def test_while_they_are_kept_their_lease_does_not_end(cast: Cast) -> None:
    Job.objects.all().delete()
    lane = jobs.Lane(LANE.name, LANE.task, lease=timedelta(seconds=1.5))
    enqueue("test", cast.account.id, lane=lane)
    claimed = jobs.claim(lane, 1)
    first = claimed[0].leased_until
    with jobs.kept(lane, claimed):
        while Job.objects.get().leased_until == first:
            assert jobs.claim(lane, 1) == []
    assert jobs.claim(LANE, 1) == []


def test_every_account_gets_its_job(cast: Cast) -> None:
    Job.objects.all().delete()
    jobs.enqueue_everywhere("test", lane=LANE)
    accounts = {job.account_id for job in jobs.claim(LANE, 9)}
    assert accounts == {cast.account.id, cast.outsider.account_id}


@pytest.mark.django_db(transaction=True)
def test_the_sweep_wakes_the_lanes_in_which_something_is_due(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those whose jobs are to come, or are being worked on."""
    Job.objects.all().delete()
    monkeypatch.setattr(jobs, "_lanes", {})
    due, to_come, taken, _idle = (jobs.Lane(name, task=name) for name in ("due", "to come", "taken", "idle"))
    enqueue("test", cast.account.id, lane=due)
    enqueue("test", cast.account.id, lane=to_come, run_after=timezone.now() + timedelta(hours=1))
    enqueue("test", cast.account.id, lane=taken)
    jobs.claim(taken, 1)
    sent: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(jobs, "_waker", Waker(sent.put, every=600))
    jobs.wake_lanes()
    assert sent.get(timeout=30) == "due"
    assert sent.empty()
