import json
from pathlib import Path

import pytest

from memoryhub.bench import japanese, mixed
from memoryhub.bench.locomo import read_locomo
from memoryhub.bench.quality import HEADINGS, STAGES, Quality
from memoryhub.bench.search import of_observations, of_turns


def measured(ranked: list[str], *evidence: str) -> dict[str, float]:
    quality = Quality()
    quality.add(ranked, evidence)
    return dict(zip(HEADINGS, map(float, quality.cells()), strict=True))


def test_a_perfect_ranking_is_a_hundred_in_all() -> None:
    assert set(measured(["a", "b", "x"], "a", "b").values()) == {100.0}


def test_evidence_further_down_counts_less() -> None:
    found = measured(["x", "a", "x2", "x3", "x4", "b"], "a", "b")
    assert found == {"R@5": 50, "R@10": 100, "R@20": 100, "hit@10": 100, "MRR@10": 50, "nDCG@10": 60.5}


def test_nothing_found_is_nought() -> None:
    assert set(measured([], "a").values()) == {0.0}


def explained(id: str, bm25: float, cosine: float | None, **parts: float) -> dict[str, float | str | None]:
    nought = dict.fromkeys(("named", "time", "length", "bare_question", "neighbour"), 0.0)
    words, meaning = bm25 / 2, (cosine or 0) / 2
    told = {"id": id, "bm25": bm25, "cosine": cosine, "words": words, "meaning": meaning, **nought, **parts}
    numbers = [words, meaning, *(value for name, value in {**nought, **parts}.items())]
    return {**told, "score": sum(numbers)}


def test_each_stage_ranks_by_its_own_parts() -> None:
    found = [
        explained("words", 0.9, 0.0),
        explained("meaning", 0.0, 0.8),
        explained("both", 0.5, 0.5),
        explained("named", 0.4, 0.3, named=0.5),
        explained("beside", 0.1, None, neighbour=0.95),
    ]
    firsts = {name: stage(found)[0] for name, stage in STAGES.items()}
    assert firsts == {
        "words alone (BM25)": "words",
        "meaning alone": "meaning",
        "reciprocal ranks (60)": "both",
        "words and meaning": "both",
        "+ priors": "named",
        "+ neighbours": "beside",
    }


@pytest.mark.parametrize("told", [japanese.TOLD, mixed.TOLD])
def test_the_sets_are_of_some_size_and_say_nothing_twice(told: tuple[tuple[str, str], ...]) -> None:
    questions = [question for _, question in told if question]
    assert len({text for text, _ in told}) == len(told) >= 60
    assert len(set(questions)) == len(questions) >= 30


def test_conversations_are_read_with_their_evidence_mended(tmp_path: Path) -> None:
    entry = {
        "sample_id": "talk",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Hi"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look", "blip_caption": "a dog"},
            ],
        },
        "observation": {"session_1_observation": {"Bo": [["Bo has a dog.", "D1:2"]]}},
        "qa": [
            {"question": "Pet?", "evidence": ["D1:02; D:1:1"], "category": 4},
            {"question": "Trick?", "evidence": ["D1:1"], "category": 5},
            {"question": "Lost?", "evidence": ["D9:9"], "category": 1},
        ],
    }
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([entry]))
    [talk] = read_locomo(path)
    assert of_turns(talk).questions == [("Pet?", frozenset({"D1:1", "D1:2"}), "single-hop")]
    assert [memory for _, memory in of_turns(talk).memories] == [
        {"text": "Hi", "agent": "Ana", "occurred_at": "2023-05-08T13:56:00+00:00", "session": "session 1"},
        {
            "text": "Look [shares a dog]",
            "agent": "Bo",
            "occurred_at": "2023-05-08T13:56:10+00:00",
            "session": "session 1",
        },
    ]
    facts = of_observations([talk], 10, 10)
    assert [name for name, _ in facts.memories] == ["talk D1:2"]
    assert facts.questions == []
