from datetime import UTC, datetime

import pytest
from time_machine import TimeMachineFixture

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def clock(time_machine: TimeMachineFixture) -> TimeMachineFixture:
    """Time stands still at NOW until the test moves it."""
    time_machine.move_to(NOW, tick=False)
    return time_machine
