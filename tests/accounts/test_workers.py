"""A real Celery worker with several threads, on few pooled connections, whose SQL has lost every filter by account:
row-level security alone keeps the jobs of each team to its own rows."""

import io
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from celery import Celery
from django.utils import timezone

import memoryhub.running.folder_broker  # noqa: F401 (makes folder:// known)
from accounts.actor import Actor
from accounts.domain.events import SEAL, record_event
from accounts.domain.jobs import enqueue
from accounts.models import Event, Job
from memoryhub.common.tenancy import tenant
from memoryhub.flows.transfers import CARRY_OUT, TRANSFERS, content_of, start_export
from spaces.domain.memories import remember
from spaces.domain.memories.expiry import EXPIRE
from spaces.models import Memory, Space, Transfer
from tests.conftest import Cast
from tests.live import environment_of
from tests.pooling import through

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 90
MANY = 6
KINDS = [EXPIRE, CARRY_OUT, SEAL]
TASKS = ("accounts.tasks.run_jobs", "memoryhub.tasks.run_transfers")


@dataclass(frozen=True)
class Work:
    """What a team has waiting: an export of everything, memories that are over, and events without a number."""

    person: Actor
    word: str
    export: UUID
    over: list[UUID]


@contextmanager
def worker(port: int, place: Path) -> Iterator[Celery]:
    """Woken by messages in a folder, as that of `memoryhub up` is."""
    (place / "broker").mkdir()
    broker = f"folder://localhost{place / 'broker'}"
    environ = environment_of("http://testserver") | {
        "DJANGO_SETTINGS_MODULE": "tests.unfiltered_settings",
        **through(port),
        "CELERY_BROKER_URL": broker,
        "FILTERS_TAKEN": str(place / "taken"),
    }
    command = [sys.executable, "-m", "celery", "--quiet", "--app", "memoryhub", "worker", "--concurrency=4"]
    with Path(place / "worker.log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
        try:
            yield Celery("tests", broker=broker, set_as_current=False)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def worked(sender: Celery, done: Callable[[], bool]) -> bool:
    """Wakes the worker, several times at once, until all is done."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for task in TASKS * 4:
            sender.send_task(task, ignore_result=True)
        time.sleep(0.5)
        if done():
            return True
    return False


def waiting(person: Actor, word: str) -> Work:
    with tenant(person.account_id):
        space = Space.objects.get(slug="main")
        told = [
            remember(person.in_space("main"), text=f"The {word} grows {n}").memory.id for n in range(2 * MANY)
        ]
        over = told[:MANY]
        past(over)
        for id in over:
            enqueue(EXPIRE, person.account_id, id)
        return Work(person, word, start_export(person, space, whole_account=True).id, over)


def past(ids: list[UUID]) -> None:
    Memory.objects.filter(id__in=ids).update(expires_at=timezone.now() - timedelta(minutes=1))


def idle() -> bool:
    return not Job.objects.filter(run_after__lte=timezone.now(), kind__in=KINDS).exists()


def test_the_jobs_of_many_teams_at_once_touch_what_is_their_own(
    cast: Cast, pooled: int, tmp_path: Path
) -> None:
    teams = [waiting(cast.owner, "heliotrope"), waiting(cast.outsider_person, "periwinkle")]
    with worker(pooled, tmp_path) as sender:
        assert worked(sender, idle), (tmp_path / "worker.log").read_text()
    for work in teams:
        with tenant(work.person.account_id):
            assert not Memory.objects.filter(id__in=work.over).exists()
            assert Memory.objects.filter(text__startswith=f"The {work.word} grows").count() == MANY
            numbers = list(Event.objects.order_by("seq").values_list("seq", flat=True))
            assert numbers == list(range(1, len(numbers) + 1))
            content = exported(work)
        others = {team.word for team in teams} - {work.word}
        assert (work.word in content, [word for word in others if word in content]) == (True, [])
    taken = int((tmp_path / "taken").read_text())
    print(f"a worker did the work of {len(teams)} teams without {taken} filters, and touched no foreign row")
    assert taken > 100


def exported(work: Work) -> str:
    transfer = Transfer.objects.get(id=work.export)
    assert (transfer.state, transfer.error) == ("ready", "")
    file = io.BytesIO(b"".join(content_of(transfer)))
    with zipfile.ZipFile(file) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def test_a_job_that_names_a_row_of_another_team_finds_nothing(
    cast: Cast, pooled: int, tmp_path: Path
) -> None:
    """The queue is one for all, and has ids only: were one wrong, the policy would still stand behind it."""
    ours, theirs = cast.owner, cast.outsider_person
    work = waiting(ours, "heliotrope")
    Job.objects.all().delete()
    for id in work.over:
        enqueue(EXPIRE, theirs.account_id, id)
    enqueue(CARRY_OUT, theirs.account_id, work.export, lane=TRANSFERS)
    with tenant(ours.account_id):
        record_event(ours, "record.created", "record", "rec_1")
        unsealed = Event.objects.filter(seq=None).count()
    Job.objects.filter(account_id=ours.account_id).delete()
    enqueue(SEAL, theirs.account_id)
    with worker(pooled, tmp_path) as sender:
        assert worked(sender, idle), (tmp_path / "worker.log").read_text()
    with tenant(ours.account_id):
        assert Memory.objects.filter(id__in=work.over).count() == MANY
        assert Transfer.objects.get(id=work.export).state == "waiting"
        assert Event.objects.filter(seq=None).count() == unsealed > 0
    assert int((tmp_path / "taken").read_text()) > 0
