from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from tests.cases.hub import Agent, Browser, Hub, new_hub
from tests.inprocess import InProcess


@pytest.fixture(scope="package", autouse=True)
def _nothing_left(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What the cases commit is gone after the last of them."""
    yield
    with django_db_blocker.unblock():
        call_command("flush", interactive=False, verbosity=0, reset_sequences=False)


@pytest.fixture
def hub(db: None, in_process: InProcess) -> Hub:
    return new_hub(in_process)


@pytest.fixture(params=["mcp", "rest"])
def agent(request: pytest.FixtureRequest, hub: Hub) -> Agent:
    """An agent of the member with every scope, over each of the two ways in."""
    return Agent(hub, request.param, hub.key())


@pytest.fixture
def owner(hub: Hub) -> Browser:
    return Browser(hub, "owner")
