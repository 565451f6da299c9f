from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from tests.matrix.world import World, build_world, undone


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """For a whole module, inside one transaction: each test undoes what it does."""
    with django_db_blocker.unblock(), undone():
        yield build_world()


@pytest.fixture(scope="module")
def committed_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """The same, for what works on connections of its own."""
    with django_db_blocker.unblock():
        yield build_world()
        call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
