"""The search of a running hub, through its own API: what is stored and asked is what any agent could."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx

from memoryhub.bench.locomo import Conversation, Said
from memoryhub.bench.quality import STAGES, Quality

BATCH = 100
PATIENCE = 1800.0


@dataclass
class Client:
    """An agent's key at a hub."""

    url: str
    key: str
    space: str = ""
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))

    def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self.key}"}
        headers |= {"x-memory-hub-space": self.space} if self.space else {}
        answer = self.http.request(method, f"{self.url}/v1/{path}", headers=headers, **options)
        answer.raise_for_status()
        return dict(answer.json())

    def inside(self, space: str) -> "Client":
        return Client(self.url, self.key, space, self.http)

    def store(self, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Their ids, in order. Nothing may be refused or taken for another."""
        ids: list[str] = []
        for start in range(0, len(memories), BATCH):
            answer = self.call(
                "POST", "memories/batch", json={"items": list(memories[start : start + BATCH])}
            )
            ids += [item["id"] for item in answer["items"]]
        return ids

    def recall(self, question: str, **options: Any) -> dict[str, Any]:
        return self.call("GET", "memories", params={"q": question, **options})

    def wait_for_meaning(self, ids: Iterable[str]) -> float:
        """Until all that was stored has its vectors; the seconds that took. The latest often are not the last."""
        began = time.monotonic()
        for id in ids:
            while self._is_pending(id):
                if time.monotonic() - began > PATIENCE:
                    raise TimeoutError("Vectors do not come.")
                time.sleep(0.01)
        return time.monotonic() - began

    def _is_pending(self, id: str) -> bool:
        """One that is held back for a person to read is absent, and stays so."""
        try:
            return bool(self.call("GET", f"memories/{id}")["embedding"] == "pending")
        except httpx.HTTPStatusError as error:
            if error.response.status_code != httpx.codes.NOT_FOUND:
                raise
            return False


@dataclass(frozen=True)
class Set:
    """Memories under names of their own, and questions with the names that answer them, each of some kind."""

    memories: list[tuple[str, dict[str, Any]]]
    questions: list[tuple[str, frozenset[str], str]]


def of_turns(conversation: Conversation) -> Set:
    """Every turn is a memory with its speaker, its time and its session."""
    return Set(
        [(turn.name, turn.as_memory()) for turn in conversation.turns],
        [(asked.text, asked.evidence, asked.category) for asked in conversation.questions],
    )


def of_observations(conversations: Sequence[Conversation], memories: int, questions: int) -> Set:
    """Facts told without a session, and questions all of whose evidence is among them."""
    told = list(_observed(conversations))[:memories]
    known = {name for name, _ in told}
    asked = [
        (one.text, frozenset(f"{conversation.name} {name}" for name in one.evidence), one.category)
        for conversation in conversations
        for one in conversation.questions
    ]
    answerable = [question for question in asked if question[1] <= known]
    step = max(1, len(answerable) // questions)
    return Set(told, answerable[::step][:questions])


def _observed(conversations: Sequence[Conversation]) -> Iterator[tuple[str, dict[str, Any]]]:
    for conversation in conversations:
        for said in conversation.observations:
            yield f"{conversation.name} {said.name}", _fact(said)


def _fact(said: Said) -> dict[str, Any]:
    return {"text": said.text, "occurred_at": said.at.isoformat()}


def of_notes(told: Sequence[tuple[str, str]]) -> Set:
    """Statements, some with a question that each alone answers."""
    return Set(
        [(text, {"text": text}) for text, _ in told],
        [(question, frozenset([text]), "notes") for text, question in told if question],
    )


def measure(sets: Iterable[tuple[Client, Set]]) -> dict[str, dict[str, Quality]]:
    """Stage → kind of question (and "all") → quality. Each set is stored in a space of its own."""
    stages: dict[str, dict[str, Quality]] = {name: {} for name in STAGES}
    for inside, one in sets:
        names = _stored(inside, one)
        for question, evidence, kind in one.questions:
            found = inside.recall(question, limit=100, explain=True)
            explained = found.get("explain", [])
            for stage, rank in STAGES.items():
                ranked = list(dict.fromkeys(names[id] for id in rank(explained) if id in names))
                for group in ("all", kind):
                    stages[stage].setdefault(group, Quality()).add(ranked, evidence)
    return stages


def _stored(client: Client, one: Set) -> dict[str, str]:
    """Id of a memory → its name."""
    ids = client.store([memory for _, memory in one.memories])
    client.wait_for_meaning(ids)
    return dict(zip(ids, (name for name, _ in one.memories), strict=True))
