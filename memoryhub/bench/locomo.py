"""LoCoMo, as it lies on disk: conversations, questions, and the turns that answer them. Never shipped.

Adversarial questions (category 5) are left out, as are those whose evidence names no turn.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
PAUSE = timedelta(seconds=10)


@dataclass(frozen=True)
class Said:
    """A turn, or an observation about one. `name` is that of the turn."""

    name: str
    speaker: str
    text: str
    at: datetime
    session: str

    def as_memory(self, *, with_session: bool = True) -> dict[str, str]:
        memory = {"text": self.text[:2000], "agent": self.speaker, "occurred_at": self.at.isoformat()}
        return memory | ({"session": self.session} if with_session else {})


@dataclass(frozen=True)
class Asked:
    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: list[Said]
    observations: list[Said]
    questions: list[Asked]


def read_locomo(path: Path) -> list[Conversation]:
    return [_conversation(entry) for entry in json.loads(path.read_text())]


def _conversation(entry: dict[str, Any]) -> Conversation:
    sessions = list(_sessions(entry["conversation"]))
    turns = [said for number, at, lines in sessions for said in _turns(number, at, lines)]
    names = {turn.name for turn in turns}
    observed = [
        said
        for number, at, _ in sessions
        for said in _observations(number, at, entry["observation"].get(f"session_{number}_observation") or {})
    ]
    questions = [_asked(question, names) for question in entry["qa"] if question["category"] in CATEGORIES]
    return Conversation(entry["sample_id"], turns, observed, [asked for asked in questions if asked.evidence])


def _sessions(conversation: dict[str, Any]) -> Iterator[tuple[int, datetime, list[dict[str, Any]]]]:
    number = 1
    while moment := conversation.get(f"session_{number}_date_time"):
        at = datetime.strptime(moment, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield number, at, conversation.get(f"session_{number}") or []
        number += 1


def _turns(number: int, at: datetime, lines: list[dict[str, Any]]) -> Iterator[Said]:
    for place, line in enumerate(lines):
        picture = f" [shares {line['blip_caption']}]" if line.get("blip_caption") else ""
        text = line["text"] + picture
        yield Said(line["dia_id"], line["speaker"], text, at + place * PAUSE, f"session {number}")


def _observations(number: int, at: datetime, by_speaker: dict[str, Any]) -> Iterator[Said]:
    for speaker, lines in by_speaker.items():
        for text, evidence in lines:
            told = evidence if isinstance(evidence, list) else [evidence]
            for name in told[:1]:
                yield Said(str(name), speaker, text, at, f"session {number}")


def _asked(question: dict[str, Any], names: set[str]) -> Asked:
    """Some evidence has several turns in one string, or zeros before a number."""
    found = (match for text in question.get("evidence") or [] for match in EVIDENCE.findall(text))
    evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in found) & names
    return Asked(question["question"], evidence, CATEGORIES[question["category"]])
