from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts.domain import jobs
from accounts.domain.jobs import enqueue, run_due_jobs
from accounts.models import Job
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
