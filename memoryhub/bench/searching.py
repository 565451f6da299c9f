"""`memoryhub bench search`: what search finds and what it costs, asked of a hub through its own API."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from uuid import uuid4

import django
import psutil

from memoryhub.bench import japanese, mixed
from memoryhub.bench.freshness import processor
from memoryhub.bench.locomo import Conversation, read_locomo
from memoryhub.bench.quality import HEADINGS, Quality
from memoryhub.bench.search import Client, Set, measure, of_notes, of_observations, of_turns
from memoryhub.running.files import read_json
from memoryhub.running.instance import Instance, open_instance

FACTS, QUESTIONS = 1000, 200
COST_LIMIT = 9
"""Milliseconds of the processor a search at a thousand memories. A question's vector took 3.5 where it was set."""
FRESH_WRITES = 20
MATERIAL = 2000
"""Texts that are embedded to make many more from."""
THOUSAND = 1000
Spaces = Callable[[str], str]


@dataclass(frozen=True)
class Floor:
    """What must be reached with every stage on, in per cent."""

    heading: str
    least: float


FLOORS = {
    "turns": [Floor("R@10", 74), Floor("MRR@10", 59)],
    "facts": [Floor("hit@10", 90), Floor("MRR@10", 75), Floor("R@10", 86)],
    "japanese": [Floor("R@10", 95)],
}


def search_quality(client: Client, make_space: Spaces, locomo: Path | None) -> Iterator[str]:
    """Lines to print. Every set is stored in a space that `make_space` makes for it."""
    for name, sets in _sets(locomo):
        stored = [(client.inside(make_space(f"{name}-{number}")), one) for number, one in enumerate(sets)]
        yield from _table(name, measure(stored))


def _sets(locomo: Path | None) -> Iterator[tuple[str, list[Set]]]:
    yield "japanese", [of_notes(japanese.TOLD)]
    yield "mixed", [of_notes(mixed.TOLD)]
    if locomo:
        conversations: Sequence[Conversation] = read_locomo(locomo)
        yield "facts", [of_observations(conversations, FACTS, QUESTIONS)]
        yield "turns", [of_turns(conversation) for conversation in conversations]


def _table(name: str, stages: dict[str, dict[str, Quality]]) -> Iterator[str]:
    yield f"\n{name:24}" + "".join(f"{heading:>9}" for heading in HEADINGS)
    for stage, groups in stages.items():
        yield f"{stage:24}" + "".join(f"{cell:>9}" for cell in groups["all"].cells())
    last = list(stages.values())[-1]
    for kind, quality in sorted(last.items()):
        if kind not in ("all", "notes"):
            yield f"  {kind:22}" + "".join(f"{cell:>9}" for cell in quality.cells())
    reached = dict(zip(HEADINGS, map(float, last["all"].cells()), strict=True))
    for floor in FLOORS.get(name, ()):
        verdict = "kept" if reached[floor.heading] >= floor.least else "MISSED"
        yield f"  {floor.heading} at least {floor.least:g}: {reached[floor.heading]:g}, {verdict}"


def search_speed(client: Client, questions: Sequence[str], instance: Instance) -> Iterator[str]:
    """One caller: milliseconds of the clock and of the processor, over all the hub's processes and by each."""
    for question in questions:
        client.recall(question, limit=10)
    fresh = [f"{question} {number}" for number, question in enumerate(questions)]
    spent = processor(instance)
    times = [_timed(client, question) for question in fresh]
    each = {name: 1000 * seconds / len(fresh) for name, seconds in spent().items()}
    cuts, together, vector = quantiles(times, n=100), sum(each.values()), each.get("embedder", 0.0)
    yield f"a search: p50 {cuts[49]:.1f} ms, p95 {cuts[94]:.1f} ms"
    yield "processor a search: " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in sorted(each.items()))
    verdict = "kept" if together <= COST_LIMIT else "MISSED"
    compared = f", {together / vector:.2f} times the question's vector alone" if vector else ""
    yield f"  together at most {COST_LIMIT:g} ms: {together:.1f}, {verdict}{compared}"


def freshness(client: Client) -> str:
    """From the answer to a write until the memory is found by its vector."""
    times = []
    for _ in range(FRESH_WRITES):
        text = f"The code word of today is {uuid4().hex}"
        ids = client.store([{"text": text}])
        times.append(1000 * client.wait_for_meaning(ids))
    return f"found by meaning after: p50 {median(times):.0f} ms, p95 {quantiles(times, n=20)[18]:.0f} ms"


def memory_of(processes: Sequence[psutil.Process]) -> Iterator[str]:
    """Proportional set size: pages that several share are counted once."""
    sizes = [(process, process.memory_full_info().pss / 2**20) for process in processes]
    for process, size in sorted(sizes, key=lambda pair: -pair[1]):
        yield f"{size:7.0f} MB  {' '.join(process.cmdline())[:60]}"
    yield f"{sum(size for _, size in sizes):7.0f} MB  together"


def hub_processes(instance: Instance) -> list[psutil.Process]:
    """`memoryhub up`, all that it started, and its database."""
    parents = [psutil.Process(int(str(read_json(instance.state_file)["pid"])))]
    postmaster = next(instance.data_dir.glob("postgres/*/postmaster.pid"), None)
    if postmaster:
        parents.append(psutil.Process(int(postmaster.read_text().split()[0])))
    found = [process for parent in parents for process in (parent, *parent.children(recursive=True))]
    return list({process.pid: process for process in found}.values())


def run(
    data_dir: Path | None, locomo: Path | None, *, quality: bool = True, sizes: Sequence[int] = ()
) -> Iterator[str]:
    """Lines to print. What is found and what that costs, and how fast it is with so many memories."""
    with open_instance(data_dir) as instance:
        django.setup()
        if quality:
            yield from _measured(instance, locomo)
        if sizes:
            yield from _by_size(locomo, sizes)


def _measured(instance: Instance, locomo: Path | None) -> Iterator[str]:
    key = str(read_json(instance.first_run_file)["agent_key"])
    client = Client(str(read_json(instance.state_file)["url"]), key)
    yield freshness(client)
    team = client.call("GET", "whoami")["account"]["slug"]
    yield from _speed_among_a_thousand(client.inside(_make_space(team, "thousand")), instance, locomo)
    yield from search_quality(client, partial(_make_space, team), locomo)
    yield from memory_of(hub_processes(instance))


def _speed_among_a_thousand(client: Client, instance: Instance, locomo: Path | None) -> Iterator[str]:
    """In an account that holds hardly more, if the hub is new."""
    texts = [
        f"{text} ({number})" for number, text in zip(range(THOUSAND), cycle(_texts(locomo)), strict=False)
    ]
    client.wait_for_meaning(client.store([{"text": text} for text in texts]))
    questions = [question for _, question in japanese.TOLD + mixed.TOLD if question]
    yield f"\namong {THOUSAND} memories"
    yield from search_speed(client, questions, instance)


def _by_size(locomo: Path | None, sizes: Sequence[int]) -> Iterator[str]:
    from memoryhub.bench.filling import Material, embedded
    from memoryhub.bench.speed import speed
    from spaces.models import EmbeddingModel

    model = EmbeddingModel.objects.serving()
    if model is None:
        yield "Without a model there is no search by meaning to measure."
        return
    material: Material = embedded(model, _texts(locomo))
    for memories in sizes:
        yield from speed(material, model, memories)


def _texts(locomo: Path | None) -> list[str]:
    notes = [text for text, _ in japanese.TOLD + mixed.TOLD]
    turns = [turn.text for one in read_locomo(locomo) for turn in one.turns] if locomo else []
    return notes + turns[:: max(1, len(turns) // MATERIAL)]


def _make_space(team: str, name: str) -> str:
    """In the team's account; answers its slug. The name is embedded with each memory: it is the same each time."""
    from accounts.actor import system_actor
    from accounts.domain.accounts import only_account
    from memoryhub.common.tenancy import tenant
    from spaces.domain.spaces import create_space

    account = only_account(team)
    with tenant(account.id):
        slug = f"{name}-{uuid4().hex[:8]}"
        return create_space(system_actor(account.id), name=name, slug=slug).slug


def _timed(client: Client, question: str) -> float:
    began = time.perf_counter()
    client.recall(question, limit=10)
    return 1000 * (time.perf_counter() - began)
