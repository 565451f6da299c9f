import time
from random import Random

import pytest

from memoryhub.bench.secrets.kinds import KINDS
from memoryhub.bench.secrets.measuring import Measured, is_left, measure, told
from memoryhub.bench.secrets.witnesses import witnesses


def shown(result: Measured, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("", *told(result, seed), sep="\n")


def test_secrets_drawn_today_are_cut_and_clean_lines_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Drawn anew each day, so that nothing can be fitted to one draw."""
    seed = int(time.time()) // 86_400
    result = measure(rounds=1, clean=5000, seed=seed, compare=False)
    shown(result, seed, capsys)
    assert len(KINDS) >= 30
    assert result.clean == 5000
    assert result.removed >= 97
    assert result.touched <= 0.3


@pytest.mark.slow
def test_more_is_cut_than_by_gitleaks_and_less_touched_than_by_detect_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seed = Random().randrange(10**9)
    result = measure(rounds=2, clean=6000, seed=seed, compare=True)
    shown(result, seed, capsys)
    assert result.others.keys() == witnesses().keys() != set()
    found, _ = result.others["gitleaks"]
    assert result.removed > found
    found, flagged = result.others["detect-secrets"]
    assert result.removed >= found - 1
    assert result.touched < flagged / 100


def test_the_tail_of_a_secret_counts_as_left() -> None:
    assert is_left("…bcdefghijklmnop", ["abcdefghijklmnop"])
    assert is_left("the abc", ["abc"])
    assert not is_left("[REDACTED:password]", ["abcdefghijklmnop"])
