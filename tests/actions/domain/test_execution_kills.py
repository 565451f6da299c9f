"""Workers are killed while they send: nothing that was approved is lost, and nothing is made twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Job
from actions.domain.lane import RUN
from actions.models import Action, Attempt
from memoryhub.common.tenancy import tenant
from memoryhub.running import lifeline
from tests.actions.stage import approve, propose
from tests.conftest import Cast
from tests.live import environment_of, held_lifeline
from tests.running_e2e.apart import Redis
from tests.vendors.server import Vendor
from tests.vendors.stage import PAYLOADS, connected

pytestmark = pytest.mark.django_db(transaction=True)

ISSUE, EVENT = "github.create_issue", "calendar.create"
WORKERS = 2
PATIENCE = 240
CELERY = ["celery", "--quiet", "--app", "memoryhub"]


@dataclass
class Crew:
    """Workers, each in a process of its own; and, where they are woken by one, the broker."""

    start: Callable[[], subprocess.Popen[bytes]]
    running: list[subprocess.Popen[bytes]]
    broker: Redis | None = None

    def kill_one(self, draw: random.Random) -> None:
        """In the middle of whatever it does; another one takes its place."""
        if self.broker and draw.random() < 0.4:
            self.broker.kill()
            self.broker.start()
            return
        at = draw.randrange(WORKERS)
        os.kill(self.running[at].pid, signal.SIGKILL)
        self.running[at].wait()
        self.running[at] = self.start()


@contextmanager
def workers(settings: Any, command: list[str], broker: Redis | None = None) -> Iterator[Crew]:
    with held_lifeline() as line:
        environment = environment_of("http://localhost") | {
            lifeline.VARIABLE: str(line),
            "ACTION_LEASE_SECONDS": "2",
            "VENDOR_SECONDS": "1",
            "CELERY_BROKER_URL": broker.url if broker else "memory://",
            **{f"{name.upper()}_URL": url for name, url in settings.VENDOR_URLS.items()},
        }

        def start(command: list[str] = command) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [sys.executable, "-m", *command], env=environment, pass_fds=[line], stderr=subprocess.DEVNULL
            )

        crew = Crew(start, [start() for _ in range(WORKERS)], broker)
        beat = [start([*CELERY, "beat", "--pidfile="])] if broker else []
        try:
            yield crew
        finally:
            for process in [*crew.running, *beat]:
                process.kill()
                process.wait()


def killed_while_sending(
    cast: Cast,
    vendors: dict[str, Vendor],
    settings: Any,
    *,
    actions: int,
    kills: int,
    broker: Redis | None = None,
) -> str:
    settings.UNDO_SECONDS = 0
    vendors["github"].seconds = vendors["calendar"].seconds = 0.02
    with tenant(cast.account.id):
        for name in (ISSUE, EVENT):
            connected(cast.owner, name)
        for n in range(actions):
            name = (ISSUE, EVENT)[n % 2]
            payload = {**PAYLOADS[name], "title": f"Number {n}"}
            approve(cast.owner, propose(cast.agent, class_name=name, payload=payload).action)
    draw = random.Random(actions)
    done = 0
    with workers(settings, [*CELERY, "worker"] if broker else ["tests.vendors.worker"], broker) as crew:
        while done < kills and (left := count(cast, "approved")):
            wait_for_work(cast, left, draw.randint(1, max(1, 2 * actions // kills - 3)))
            time.sleep(draw.uniform(0, 0.1))
            crew.kill_one(draw)
            done += 1
        wait_until_quiet(cast)
    return told(cast, vendors, actions, done)


def count(cast: Cast, status: str) -> int:
    with tenant(cast.account.id):
        return Action.objects.filter(status=status).count()


def wait_for_work(cast: Cast, left: int, more: int) -> None:
    """Workers that have just been started take a while on a busy machine: they are killed at work, not before."""
    deadline = time.monotonic() + PATIENCE
    while left - more < count(cast, "approved") > 0:
        assert time.monotonic() < deadline, "Nobody works."
        time.sleep(0.02)


def wait_until_quiet(cast: Cast) -> None:
    """All are ended, or nobody knows of them and the worker goes on looking."""
    done, since = -1, time.monotonic()
    while time.monotonic() - since < PATIENCE:
        if is_quiet(cast):
            return
        if done != (done := count(cast, "done")):
            since = time.monotonic()
        time.sleep(0.3)
    raise AssertionError(f"The workers did not come to an end: {what_is_open(cast)}")


def is_quiet(cast: Cast) -> bool:
    """What is open is unknown, was looked for again, and is shown to people once the worker has given up looking."""
    with tenant(cast.account.id):
        open_ = Action.objects.filter(status__in=["approved", "executing"])
        unknown = Attempt.objects.filter(action__in=open_, outcome="unknown")
        looked_for = Job.objects.filter(object_id__in=open_.filter(doubt="").values("id"), tries__gte=2)
        left_to_people = open_.exclude(doubt="")
        return open_.count() == unknown.count() == looked_for.count() + left_to_people.count()


def what_is_open(cast: Cast) -> dict[str, int]:
    """How many there are of each: where an action stands, how its attempts ended, how often its job was tried."""
    with tenant(cast.account.id):
        open_ = Action.objects.filter(status__in=["approved", "executing"]).prefetch_related("attempts")
        jobs = dict(Job.objects.filter(lane="actions", kind=RUN).values_list("object_id", "tries"))
        return Counter(
            f"{a.status}, attempts {[t.outcome for t in a.attempts.all()]}, tries {jobs.get(a.id, 'none')}"
            for a in open_
        )


def told(cast: Cast, vendors: dict[str, Vendor], actions: int, kills: int) -> str:
    made = Counter(thing["title"] for thing in vendors["github"].made)
    made.update(thing["summary"] for thing in vendors["calendar"].made)
    with tenant(cast.account.id):
        found = {a.current.payload["title"]: a.status for a in Action.objects.with_current()}
    twice = [title for title, times in made.items() if times > 1]
    lost = [title for title, status in found.items() if status == "done" and not made[title]]
    unknown = [title for title, status in found.items() if status == "executing"]
    assert (len(found), twice, lost) == (actions, [], [])
    assert set(found.values()) <= {"done", "executing"}
    assert not [title for title in unknown if made[title]], "what was made has to be found again"
    return f"{actions} actions, {kills} kills: 0 twice, 0 lost, {len(unknown)} unknown and shown"


def test_killing_workers_makes_nothing_twice_and_loses_nothing(cast: Cast, vendors, settings) -> None:
    print(killed_while_sending(cast, vendors, settings, actions=60, kills=6))


@pytest.mark.slow
def test_killing_workers_100_times_during_1000_actions(cast: Cast, vendors, settings) -> None:
    print(killed_while_sending(cast, vendors, settings, actions=1_000, kills=100))


def test_killing_workers_and_their_broker_loses_nothing_either(
    cast: Cast, vendors, settings, tmp_path: Path
) -> None:
    with Redis(tmp_path) as broker:
        print(killed_while_sending(cast, vendors, settings, actions=24, kills=4, broker=broker))


@pytest.mark.slow
def test_killing_workers_and_their_broker_100_times_during_1000_actions(
    cast: Cast, vendors, settings, tmp_path: Path
) -> None:
    with Redis(tmp_path) as broker:
        print(killed_while_sending(cast, vendors, settings, actions=1_000, kills=100, broker=broker))
