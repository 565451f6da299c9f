"""What a search lets through is written twice, once for lists and once for its own statement: both say the same."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from spaces.domain.search.filters import REACHED, SearchFilters, matching, passing
from spaces.domain.spaces import create_space
from spaces.models import SpaceMember
from tests.conftest import Cast
from tests.spaces.domain.search.memories import store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside")]
LIVE = 9
"""Of the memories made in each space: neither expired nor held back, superseded or a trace."""
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
FILTERS: list[dict[str, Any]] = [
    {},
    {"account_wide": False},
    {"spaces": frozenset()},
    {"kinds": ("decision", "note")},
    {"tiers": ("core",)},
    {"statuses": ("superseded", "resolved")},
    {"origins": ("user",), "trusts": ("person",)},
    {"tags": ("a", "b")},
    {"topics": ("Café",)},
    {"subject": "Ana", "agent": "bot", "session": "s1", "source_ref": "x"},
    {"paths": ("Projects/50%_off",)},
    {"paths": ("projects", "PROJECTS/50%_off/deep")},
    {"kinds": ("note",)},
    {"tags": ("trace",)},
    {"metadata": {"tags": ["a", "trace"], "user_id": "u1"}},
    {"metadata": {"session_id": "s1"}},
    {"said_from": NOW, "said_before": NOW + timedelta(days=1)},
]


@pytest.fixture
def everything(cast: Cast, inside: None) -> None:
    hidden = create_space(cast.owner, name="Hidden", slug="hidden", visibility="members")
    named = create_space(cast.owner, name="Named", slug="named", visibility="members")
    SpaceMember.objects.create(
        account_id=cast.account.id, space=named, user_id=cast.teammate.user_id, role="member"
    )
    given: list[dict[str, Any]] = [
        {},
        {"kind": "decision", "tier": "core", "tags": ["b", "a", "c"], "topics": ["Café"]},
        {"status": "superseded", "origin": "user", "trust": "person"},
        {"status": "quarantined"},
        {"expires_at": timezone.now() - timedelta(days=1)},
        {"expires_at": timezone.now() - timedelta(days=1), "pinned": True},
        {"expires_at": timezone.now() + timedelta(days=1), "occurred_at": NOW},
        {"subject": "Ana", "agent": "bot", "session": "s1", "source_ref": "x"},
        {"kind": "note", "tags": ["trace"], "metadata": {"user_id": ["u1"]}},
        {"kind": "note", "metadata": {"user_id": "u1", "tags": ["a"], "session_id": ["s1"]}},
        {"path": "projects/50%_OFF"},
        {"path": "projects/50%_off/deep/er"},
        {"path": "projects/500_off"},
    ]
    for space in (cast.space, hidden, named, None):
        for fields in given:
            store(cast.owner, space, "fact", **fields)


def passed(actor: Actor, filters: SearchFilters) -> set[UUID]:
    text, values = passing(actor, filters)
    with connection.cursor() as cursor:
        cursor.execute(f"with {REACHED} select id from spaces_memory where {text}", values)
        return {id for (id,) in cursor.fetchall()}


@pytest.mark.parametrize("given", FILTERS, ids=lambda given: " ".join(given) or "none")
@pytest.mark.usefixtures("everything")
def test_lists_and_searches_let_the_same_through(cast: Cast, given: dict[str, Any]) -> None:
    held = cast.key(space_ids=frozenset([cast.space.id]))
    for actor in (cast.owner, cast.teammate, cast.viewer, cast.agent, held, cast.outsider):
        for spaces in ({}, {"spaces": frozenset([cast.space.id])}):
            filters = SearchFilters(**{**spaces, **given})
            assert passed(actor, filters) == set(matching(actor, filters).values_list("id", flat=True))


@pytest.mark.usefixtures("everything")
def test_each_sees_the_spaces_open_to_them(cast: Cast) -> None:
    counts = [len(passed(actor, SearchFilters())) for actor in (cast.owner, cast.teammate, cast.outsider)]
    assert counts == [4 * LIVE, 3 * LIVE, 0]
