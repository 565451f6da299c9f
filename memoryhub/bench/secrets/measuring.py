"""How much is cut, how much is touched that shouldn't be, and what it costs."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from memoryhub.bench.secrets.carriers import lines, parts_that_count
from memoryhub.bench.secrets.clean import big_texts, clean_lines
from memoryhub.bench.secrets.kinds import KINDS
from memoryhub.bench.secrets.witnesses import witnesses
from memoryhub.common.secrets import cut_text

SIZE, TEXTS, WARM = 8192, 200, 20
REMOVED, TOUCHED, SLOWEST = 97.0, 0.3, 5.0
UNSEEN = {ord("\u200b"): None}
TAIL = 10


@dataclass
class Measured:
    """Per cent and milliseconds. `missed` is by kind, `others` what each witness found and flagged."""

    planted: int = 0
    removed: float = 0
    clean: int = 0
    touched: float = 0
    line: float = 0
    p99: float = 0
    missed: Counter[str] = field(default_factory=Counter)
    others: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.removed >= REMOVED and self.touched <= TOUCHED and self.p99 <= SLOWEST


def measure(*, rounds: int, clean: int, seed: int, compare: bool) -> Measured:
    random = Random(seed)  # noqa: S311
    planted = [(kind, *one) for _ in range(rounds) for kind in KINDS for one in lines(kind, random)]
    harmless = clean_lines(clean, random)
    result = Measured(planted=len(planted), clean=len(harmless))
    for kind, _carrier, text, secret in planted:
        if is_left(cut_text(text)[0], parts_that_count(kind, secret)):
            result.missed[kind.name] += 1
    result.removed = 100 - 100 * sum(result.missed.values()) / len(planted)
    began = time.thread_time()
    result.touched = 100 * sum(cut_text(line)[0] != line for line in harmless) / len(harmless)
    result.line = 1000 * (time.thread_time() - began) / len(harmless)
    result.p99 = slowest(random)
    if compare:
        for name, witness in witnesses().items():
            found = witness([text for _, _, text, _ in planted])
            flagged = witness(harmless)
            result.others[name] = (100 * len(found) / len(planted), 100 * len(flagged) / len(harmless))
    return result


def is_left(text: str, parts: list[str]) -> bool:
    """Any of it, or the end of any of it."""
    plain = text.translate(UNSEEN)
    return any(part in plain or (len(part) > TAIL + 4 and part[-TAIL:] in plain) for part in parts)


def slowest(random: Random) -> float:
    """Milliseconds of this thread's own time for 8 KB, the 99th of a hundred."""
    times = []
    for number, text in enumerate(big_texts(TEXTS, SIZE, random)):
        began = time.thread_time()
        cut_text(text)
        if number >= WARM:
            times.append(1000 * (time.thread_time() - began))
    return sorted(times)[int(0.99 * len(times))]


def told(result: Measured, seed: int) -> Iterator[str]:
    yield f"{len(KINDS)} kinds, {result.planted} secrets in their carriers, {result.clean} clean lines, seed {seed}"
    yield f"{'':16}{'removed':>10}{'clean touched':>16}"
    yield f"{'memory hub':16}{result.removed:>9.2f}%{result.touched:>15.2f}%"
    for name, (found, flagged) in result.others.items():
        yield f"{name:16}{found:>9.2f}%{flagged:>15.2f}%   (finding anything in the text counts)"
    yield f"{result.line:.3f} ms a line, {result.p99:.2f} ms for {SIZE // 1024} KB at the 99th percentile"
    for name, count in result.missed.most_common(10):
        yield f"missed: {name} {count}×"
    wanted = f"at least {REMOVED} % removed, at most {TOUCHED} % touched, {SLOWEST} ms"
    yield f"wanted: {wanted}: {'holds' if result.holds else 'does not hold'}"
