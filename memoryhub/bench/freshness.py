"""`memoryhub bench freshness`: how soon what was written is found by its meaning, and what a write costs."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import django
import psutil
from django.utils import timezone

from memoryhub.bench.search import Client
from memoryhub.running.files import read_json
from memoryhub.running.instance import Instance, open_instance

IDLE_LIMIT, BUSY_LIMIT = 0.5, 3.0
"""Seconds at the 95th percentile."""
COST_LIMIT = 1.5
"""So many times the processor's time of the embedding alone may a write cost with it."""
WRITERS = 8
PROBE_EVERY = 0.5
GLANCE = 0.02
PATIENCE = 60.0
SOON = timedelta(seconds=1)
"""What was put off for so long is still to come."""
COSTED = 200
PARTS = (
    [
        "The release of",
        "Access to",
        "The contract for",
        "The nightly backup of",
        "The review of",
        "The bill for",
    ],
    [
        "the billing database",
        "the staging cluster",
        "the Osaka office",
        "the vendor portal",
        "the harbour crane",
    ],
    [
        "moved to Tuesday",
        "was signed by Ana",
        "needs two more tests",
        "ends at midnight",
        "is owned by finance",
    ],
    [
        "because the customer asked for it",
        "until the quarterly report is out",
        "as decided in the last meeting",
    ],
)


@dataclass(frozen=True)
class Plan:
    idle: int = 30
    rate: float = 50.0
    seconds: float = 20.0


@dataclass
class Texts:
    """Statements of usual length, no two alike."""

    random: Random = field(default_factory=lambda: Random(time.time_ns()))  # noqa: S311

    def next(self) -> str:
        said = " ".join(self.random.choice(part) for part in PARTS)
        return f"{said}, ticket {self.random.getrandbits(48):012x}."


def run(data_dir: Path | None, plan: Plan) -> Iterator[str]:
    """Lines to print. The hub has to be running; what is written stays in a space of its own name."""
    with open_instance(data_dir) as instance:
        django.setup()
        client = Client(
            str(read_json(instance.state_file)["url"]), str(read_json(instance.first_run_file)["agent_key"])
        )
        texts = Texts()
        yield line("idle", [found_after(client, texts.next()) for _ in range(plan.idle)], IDLE_LIMIT)
        with writing(client, plan.rate) as writers:
            times = list(probes(client, texts, plan.seconds))
        yield line(f"at {writers.reached():.0f} writes a second", times, BUSY_LIMIT)
        yield from cost(instance, client, texts)


def line(when: str, times: Sequence[float], limit: float) -> str:
    p95 = quantiles(times, n=20)[18]
    verdict = "kept" if p95 <= limit else "MISSED"
    return (
        f"found by meaning, {when}: p50 {1000 * median(times):.0f} ms, p95 {1000 * p95:.0f} ms "
        f"(at most {1000 * limit:.0f}: {verdict})"
    )


def found_after(client: Client, text: str) -> float:
    """Seconds from the answer to a write until a search finds the memory by its vector."""
    id = client.call("POST", "memories", json={"text": text})["memory"]["id"]
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        found = client.recall(text, limit=5, explain=True)
        if any(one["id"] == id and one["cosine"] is not None for one in found.get("explain", [])):
            break
        time.sleep(GLANCE)
    return time.monotonic() - began


def probes(client: Client, texts: Texts, seconds: float) -> Iterator[float]:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        yield found_after(client, texts.next())
        time.sleep(PROBE_EVERY)


@dataclass
class Writers:
    """Threads that write so many memories a second together."""

    client: Client
    rate: float
    written: int = 0
    seconds: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)
    counting: threading.Lock = field(default_factory=threading.Lock)

    def write(self, offset: float) -> None:
        texts, due = Texts(), time.monotonic() + offset
        own = Client(self.client.url, self.client.key)
        with closing(own.http):
            while not self.over.wait(max(0.0, due - time.monotonic())):
                own.call("POST", "memories", json={"text": texts.next()})
                due += WRITERS / self.rate
                with self.counting:
                    self.written += 1

    def reached(self) -> float:
        return self.written / self.seconds if self.seconds else 0.0


@contextmanager
def writing(client: Client, rate: float) -> Iterator[Writers]:
    writers = Writers(client, rate)
    threads = [threading.Thread(target=writers.write, args=[i / rate]) for i in range(WRITERS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        yield writers
    finally:
        writers.seconds = time.monotonic() - began
        writers.over.set()
        for thread in threads:
            thread.join()


def cost(instance: Instance, client: Client, texts: Texts) -> Iterator[str]:
    """Writes one after the other, until all have their vectors; beside them the vectors of the same texts alone."""
    said = [texts.next() for _ in range(COSTED)]
    until_settled()
    spent = processor(instance)
    ids = [client.call("POST", "memories", json={"text": text})["memory"]["id"] for text in said]
    until_settled()
    each = {name: 1000 * seconds / COSTED for name, seconds in spent().items()}
    alone = 1000 * embedding_alone(instance, documents(ids)) / COSTED
    yield "processor a write: " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in sorted(each.items()))
    together = sum(ms for name, ms in each.items() if name in ("web", "worker", "embedder"))
    verdict = "kept" if together <= COST_LIMIT * alone else "MISSED"
    yield (
        f"web, worker and embedder {together:.1f} ms, the embedding alone {alone:.1f} ms: "
        f"{together / alone:.2f} times (at most {COST_LIMIT}: {verdict})"
    )
    yield f"without a vector at the end: {lacking()}"


def embedding_alone(instance: Instance, texts: Sequence[str]) -> float:
    """Seconds of the embedder's processor for the texts and nothing else."""
    from spaces.domain.embeddings.configured import configured
    from spaces.domain.embeddings.thinking import TEXTS

    wanted = configured()
    assert wanted
    spent = processor(instance)
    for start in range(0, len(texts), TEXTS):
        wanted.client().embed(texts[start : start + TEXTS], "passage")
    return spent().get("embedder", 0.0)


def documents(ids: Sequence[str]) -> list[str]:
    """What is embedded of these memories: their text under its heading."""
    from accounts.domain.accounts import only_account
    from memoryhub.common.ids import parse_id
    from memoryhub.common.tenancy import tenant
    from spaces.domain.embeddings.documents import document
    from spaces.models import Memory

    with tenant(only_account().id):
        found = Memory.objects.select_related("space").filter(id__in=[parse_id("mem", id) for id in ids])
        return [chunk for memory in found for chunk in document(memory).chunks]


def until_settled() -> None:
    from accounts.models import Job

    while Job.objects.filter(run_after__lte=timezone.now() + SOON).exists():
        time.sleep(GLANCE)


def lacking() -> int:
    from spaces.domain.embeddings.changing import overall_progress

    return sum(part.memories - part.embedded - part.failed for part in overall_progress()[:1])


def processor(instance: Instance) -> Callable[[], Mapping[str, float]]:
    """Answers later how many seconds of the processor each of the hub's processes has used since."""
    processes = named_processes(instance)
    before = {name: seconds_of(found) for name, found in processes.items()}
    return lambda: {name: seconds_of(found) - before[name] for name, found in processes.items()}


def named_processes(instance: Instance) -> dict[str, list[psutil.Process]]:
    records: Any = read_json(instance.state_file)["processes"]
    found = {str(record["name"]): [psutil.Process(int(record["pid"]))] for record in records}
    postmaster = next(instance.data_dir.glob("postgres/*/postmaster.pid"), None)
    if postmaster:
        server = psutil.Process(int(postmaster.read_text().split()[0]))
        found["database"] = [server, *server.children()]
    return found


def seconds_of(processes: Sequence[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes if process.is_running()]
    return float(sum(one.user + one.system for one in times))
