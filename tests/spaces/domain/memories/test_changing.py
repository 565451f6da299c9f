from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import Event
from memoryhub.common.errors import Conflict, Forbidden, InvalidRequest, NotFound, PayloadTooLarge
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain.memories import (
    access_memory,
    delete_memory,
    edit_memory,
    find_memories,
    list_versions,
    remember,
)
from spaces.domain.spaces import create_space
from spaces.models import Memory, MemoryVersion
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def memory(cast: Cast) -> Memory:
    fields: dict[str, Any] = {"subject": "deploys", "tags": ["ops"], "metadata": {"a": 1}}
    return remember(cast.agent, text="Deploy window is Tuesday", **fields).memory


def test_an_edit_changes_what_is_given_and_keeps_what_it_was(cast: Cast, memory: Memory) -> None:
    edit_memory(cast.teammate, memory.id, text="Deploy window is Friday", pinned=True)
    now = access_memory(cast.agent, memory.id)
    assert (now.text, now.pinned, now.subject, now.tags) == (
        "Deploy window is Friday",
        True,
        "deploys",
        ["ops"],
    )
    assert (now.version, now.written_by) == (2, cast.teammate.key)
    [former] = list_versions(cast.agent, memory.id).items
    assert (former.version, former.data["text"], former.data["pinned"]) == (
        1,
        "Deploy window is Tuesday",
        False,
    )
    assert (former.written_by, former.written_at) == (cast.agent.key, memory.updated_at)


def test_an_edit_that_changes_nothing_leaves_no_trace(cast: Cast, memory: Memory) -> None:
    edit_memory(cast.agent, memory.id, text="Deploy window is Tuesday", tags=["ops"])
    edit_memory(cast.agent, memory.id)
    assert access_memory(cast.agent, memory.id).version == 1
    assert not MemoryVersion.objects.exists()
    assert list(Event.objects.order_by("id").values_list("type", flat=True))[-1] == "memory.created"


def test_an_edited_memory_is_found_by_its_new_words_alone(cast: Cast) -> None:
    memory = remember(cast.agent, text="Office dog is called Biscuit").memory
    edit_memory(cast.agent, memory.id, text="Database failover takes 40 seconds")
    assert find_memories(cast.agent, "biscuit").page.items == []
    assert find_memories(cast.agent, "failover").page.items == [memory]


def test_a_new_text_is_trusted_as_far_as_its_writer(cast: Cast, memory: Memory) -> None:
    assert edit_memory(cast.teammate, memory.id, pinned=True).trust == "agent"
    assert edit_memory(cast.teammate, memory.id, text="said by a person").trust == "person"
    assert edit_memory(cast.agent, memory.id, text="said by an agent").trust == "agent"


def test_an_edit_of_an_older_version_is_a_conflict_that_repeats_no_text(cast: Cast, memory: Memory) -> None:
    edit_memory(cast.agent, memory.id, text="Deploy window is Friday", expected_version=1)
    with pytest.raises(Conflict) as caught:
        edit_memory(cast.agent, memory.id, text="Deploy window is Monday", expected_version=1)
    assert (caught.value.details["expected"], caught.value.details["actual"]) == (1, 2)
    assert "Friday" not in str(caught.value.body())
    assert access_memory(cast.agent, memory.id).text == "Deploy window is Friday"


def test_an_edit_to_what_another_one_says_is_a_conflict_naming_that_one(cast: Cast, memory: Memory) -> None:
    other = remember(cast.agent, text="Deploy window is Friday", subject="deploys").memory
    with pytest.raises(Conflict) as caught:
        edit_memory(cast.agent, memory.id, text="deploy window is FRIDAY.")
    assert caught.value.details["current"] == {"id": typed_id("mem", other.id), "version": 1}
    assert access_memory(cast.agent, memory.id).text == "Deploy window is Tuesday"
    assert not MemoryVersion.objects.exists()


def test_an_edit_to_what_an_expired_one_said_takes_its_place(cast: Cast, memory: Memory) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        old = remember(cast.agent, text="one", subject="deploys", expires_at="2026-03-03").memory
        clock.shift(timedelta(days=3))
        assert edit_memory(cast.agent, memory.id, text="one").text == "one"
    assert not Memory.objects.filter(id=old.id).exists()


@pytest.mark.parametrize(
    ("tier", "changes", "days"),
    [
        ("long", {"tier": "scratch"}, 7),
        ("scratch", {"tier": "long"}, None),
        ("scratch", {"tier": "core"}, None),
        ("scratch", {"tier": "long", "expires_at": "2026-03-04T12:00Z"}, 2),
        ("scratch", {"text": "two"}, 5),
        ("scratch", {"expires_at": ""}, None),
        ("long", {"tier": "core"}, None),
    ],
)
def test_a_change_of_tier_changes_when_a_memory_ends(
    cast: Cast, tier: str, changes: dict[str, Any], days: int | None
) -> None:
    with time_machine.travel(NOW - timedelta(days=2), tick=False):
        memory = remember(cast.agent, text="one", tier=tier).memory
    with time_machine.travel(NOW, tick=False):
        edited = edit_memory(cast.agent, memory.id, **changes)
    assert edited.expires_at == (NOW + timedelta(days=days) if days else None)


def test_losing_its_pin_ends_no_memory_at_once(cast: Cast) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        memory = remember(cast.agent, text="one", tier="scratch", pinned=True).memory
        clock.shift(timedelta(days=30))
        assert edit_memory(cast.agent, memory.id, pinned=False).expires_at == NOW + timedelta(days=37)


def test_versions_come_newest_first_in_pages(cast: Cast, memory: Memory) -> None:
    for n in range(5):
        edit_memory(cast.agent, memory.id, text=f"text {n}")
    first = list_versions(cast.agent, memory.id, size=3)
    rest = list_versions(cast.agent, memory.id, size=3, cursor=first.next_token)
    assert [v.version for v in first.items + rest.items] == [5, 4, 3, 2, 1]
    assert rest.next_token == ""
    other = remember(cast.agent, text="other").memory
    with pytest.raises(InvalidRequest):
        list_versions(cast.agent, other.id, size=3, cursor=first.next_token)


def test_a_deleted_memory_is_gone_with_its_versions(cast: Cast, memory: Memory) -> None:
    edit_memory(cast.agent, memory.id, text="Deploy window is Friday")
    delete_memory(cast.agent, memory.id, expected_version=2)
    assert not Memory.objects.exists()
    assert not MemoryVersion.objects.exists()
    assert Event.objects.get(type="memory.deleted").object_id == typed_id("mem", memory.id)


def test_a_memory_of_another_version_is_not_deleted(cast: Cast, memory: Memory) -> None:
    with pytest.raises(Conflict):
        delete_memory(cast.agent, memory.id, expected_version=7)
    assert Memory.objects.exists()


Deed = Callable[[Cast, Any], object]
DEEDS: list[Deed] = [
    lambda cast, id: access_memory(cast.agent, id),
    lambda cast, id: edit_memory(cast.agent, id, text="other"),
    lambda cast, id: edit_memory(cast.agent, id, pinned=True),
    lambda cast, id: delete_memory(cast.agent, id),
    lambda cast, id: list_versions(cast.agent, id),
]


@pytest.mark.parametrize("deed", DEEDS)
def test_foreign_hidden_and_unknown_ids_are_refused_in_the_same_words(cast: Cast, deed: Deed) -> None:
    with tenant(cast.outsider.account_id):
        foreign = remember(cast.outsider, text="theirs").memory
    create_space(cast.owner, name="Private", slug="private", visibility="members")
    private = remember(cast.owner.in_space("private"), text="hidden").memory
    answers = set()
    for id in (foreign.id, typed_id("mem", foreign.id), private.id, new_id(), "mem_nonsense", "rec_1", ""):
        with pytest.raises(NotFound) as caught:
            deed(cast, id)
        answers.add(str(caught.value.body()))
    assert len(answers) == 1
    assert Memory.objects.filter(text="hidden").exists()


def test_a_quarantined_memory_is_not_found_by_id(cast: Cast, memory: Memory) -> None:
    Memory.objects.filter(id=memory.id).update(status="quarantined")
    for deed in DEEDS:
        with pytest.raises(NotFound):
            deed(cast, memory.id)


def test_who_only_reads_may_not_change(cast: Cast, memory: Memory) -> None:
    assert access_memory(cast.viewer, memory.id) == memory
    with pytest.raises(Forbidden):
        edit_memory(cast.viewer, memory.id, text="other")
    with pytest.raises(Forbidden):
        delete_memory(cast.viewer, memory.id)


def test_metadata_and_links_have_a_limit(cast: Cast, memory: Memory) -> None:
    for changes in ({"metadata": {"a": "x" * 17_000}}, {"links": [{"title": "x" * 17_000}]}):
        with pytest.raises(PayloadTooLarge):
            edit_memory(cast.agent, memory.id, **changes)
