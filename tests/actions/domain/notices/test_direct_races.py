"""With real transactions and processes: workers at once, and workers that are killed, say it once at most."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.accounts import add_member, person_actor
from accounts.domain.addresses import prove_address
from accounts.domain.jobs import enqueue_each
from accounts.models import Job, User
from accounts.scopes import Role
from actions.domain.notices.choices import choose_mail, choose_slack, slack_offer
from actions.domain.notices.lane import NOTICES, SLACK
from actions.domain.notices.people import tell_people
from actions.domain.notices.working import work_off_notices
from actions.models import Notice
from memoryhub.common.tenancy import tenant
from memoryhub.running import lifeline
from tests.actions.notices_stage import noting_what_is_held
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.live import environment_of, held_lifeline
from tests.vendors.fakes import Slack
from tests.vendors.server import Vendor
from tests.vendors.stage import connected

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60


@pytest.fixture
def slack(cast: Cast, vendors: dict[str, Vendor], settings: Any) -> Slack:
    """Everything waits for the approver, and is due."""
    settings.VENDOR_SECONDS = 10
    found = vendors["slack"]
    assert isinstance(found, Slack)
    with tenant(cast.account.id):
        connected(cast.owner, "slack.send")
        choose_mail(cast.owner, "none", 1)
        listens(found, cast.approver)
        await_telling(cast)
    return found


def listens(slack: Slack, person: Actor) -> None:
    slack.join(User.objects.get(id=person.user_id).email, id=name_of(person))
    choose_mail(person, "none", 1)
    choose_slack(person, on=True)


def name_of(person: Actor) -> str:
    assert person.user_id is not None
    return f"U{person.user_id.hex.upper()[-12:]}"


def await_telling(cast: Cast) -> None:
    tell_people(cast.account.id, proposed(cast).id)
    Job.objects.filter(kind=SLACK).update(run_after=timezone.now())


def notices(cast: Cast) -> list[Notice]:
    with tenant(cast.account.id):
        return list(Notice.objects.filter(way="slack"))


def test_nothing_of_the_database_is_held_while_slack_is_asked(
    cast: Cast, slack: Slack, monkeypatch: Any
) -> None:
    held = noting_what_is_held(monkeypatch)
    work_off_notices()
    monkeypatch.undo()
    assert held == [False] * 3
    assert len(slack.made) == 1


def test_of_many_workers_one_tells_a_person(cast: Cast, slack: Slack) -> None:
    slack.seconds = 0.05
    with tenant(cast.account.id):
        enqueue_each(SLACK, cast.account.id, [cast.approver.user_id] * 7, lane=NOTICES)
    threads = [threading.Thread(target=_worker) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(slack.made) == 1
    assert [notice.in_doubt for notice in notices(cast)] == [False]


def _worker() -> None:
    try:
        work_off_notices()
    finally:
        connection.close()


@contextmanager
def a_worker(settings: Any) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts one in a process of its own, in place of the one before."""
    running: list[subprocess.Popen[bytes]] = []
    with held_lifeline() as line:
        environment = environment_of("http://localhost") | {
            lifeline.VARIABLE: str(line),
            "SLACK_URL": settings.VENDOR_URLS["slack"],
        }

        def start() -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "tests.vendors.worker", "notices"]
            running.append(
                subprocess.Popen(command, env=environment, pass_fds=[line], stderr=subprocess.DEVNULL)
            )
            return running[-1]

        try:
            yield start
        finally:
            for process in running:
                process.kill()
                process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """In the middle of whatever it does; what it held is free for another."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    Job.objects.filter(lane=NOTICES.name).update(leased_until=None)


def until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline, "It does not happen."
        time.sleep(0.01)


def test_killed_between_what_was_sent_and_the_row_it_is_not_sent_again(
    cast: Cast, slack: Slack, settings: Any
) -> None:
    slack.seconds = 0.5
    with a_worker(settings) as start:
        process = start()
        until(lambda: bool(slack.made))
        kill(process)
    work_off_notices()
    assert len(slack.made) == 1
    assert [notice.in_doubt for notice in notices(cast)] == [True]
    with tenant(cast.account.id):
        Notice.objects.update(told_at=timezone.now() - timedelta(minutes=6))
        assert slack_offer(cast.approver).trouble == "unclear"


def test_workers_that_are_killed_tell_nobody_twice_and_forget_nobody(
    cast: Cast, slack: Slack, settings: Any
) -> None:
    with tenant(cast.account.id):
        people = [cast.approver, *(another(cast, n) for n in range(7))]
        for person in people[1:]:
            listens(slack, person)
        await_telling(cast)
    draw, slack.seconds = random.Random(8), 0.03
    with a_worker(settings) as start:
        for _ in range(5):
            process, before = start(), len(slack.asked)
            until(lambda: len(slack.asked) > before or not waiting())  # noqa: B023
            time.sleep(draw.uniform(0, 0.3))
            kill(process)
    while waiting():
        work_off_notices()
        Job.objects.filter(kind=SLACK).update(run_after=timezone.now())
    unsure = {notice.user_id for notice in notices(cast) if notice.in_doubt}
    for person in people:
        times = len(slack.said_to(name_of(person)))
        # The approver was told of the first action alone, if that went before the second came.
        assert times <= 1 + (person is cast.approver)
        assert times >= 1 or person.user_id in unsure
    assert len(notices(cast)) == len(people) + 1
    assert all(notice.told_at for notice in notices(cast))


def waiting() -> int:
    return Job.objects.filter(kind=SLACK).count()


def another(cast: Cast, n: int) -> Actor:
    user = User.objects.create_user(f"approver{n}@acme.example", "correct horse battery", name=f"Ann {n}")
    prove_address(user)
    add_member(cast.account.id, user, Role.APPROVER)
    return person_actor(user, cast.account.slug)
