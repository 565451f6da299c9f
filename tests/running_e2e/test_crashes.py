"""Whatever is killed comes back, and what was acknowledged is still there. Short here; twenty times each if slow."""

from __future__ import annotations

import pytest

from tests.running_e2e.harness import Hub, Writer, until

CHILDREN = ["web", "worker", "beat", "postgres"]
times = pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])


@times
def test_a_killed_child_is_mended_and_nothing_acknowledged_is_lost(running: Hub, times: int) -> None:
    with Writer(running) as writer:
        for _ in range(times):
            for name in CHILDREN:
                writer.wait_for(more=5)
                running.kill_child(name)
        writer.wait_for(more=5)
    assert writer.lost() == []
    assert running.said.count("was ended by SIGKILL; starting it again") == 3 * times
    assert running.said.count("the database is gone; starting it again") == times


@times
def test_a_killed_up_is_mended_by_the_next_one_and_nothing_acknowledged_is_lost(
    running: Hub, times: int
) -> None:
    with Writer(running) as writer:
        for _ in range(times):
            writer.wait_for(more=5)
            running.kill()
            running.start()
        writer.wait_for(more=5)
    assert writer.lost() == []


@times
def test_ctrl_c_leaves_no_process_and_nothing_acknowledged_is_lost(running: Hub, times: int) -> None:
    with Writer(running) as writer:
        for _ in range(times):
            writer.wait_for(more=5)
            assert running.press_ctrl_c() == 0
            assert running.processes() == []
            running.start()
    assert writer.lost() == []


def test_children_end_when_up_was_killed_even_if_no_other_comes(running: Hub) -> None:
    names = [running.pid(name) for name in ("web", "worker", "beat")]
    assert all(names)
    running.kill()
    until(lambda: len(running.processes()) < 2 or not _python(running), "the end of the children")


def _python(hub: Hub) -> list[str]:
    return [line for line in hub.processes() if "memoryhub.running.child" in line]
