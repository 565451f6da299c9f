import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

import accounts.tasks  # noqa: F401 (makes the handlers of jobs known)
from accounts.domain import events
from accounts.domain.events import chain_hash, record_event, seal_events
from accounts.domain.jobs import run_due_jobs
from accounts.models import Event, Job
from memoryhub.common.tenancy import tenant
from tests.calls import at_once
from tests.conftest import Cast


def write(cast: Cast, type: str = "record.created") -> Event:
    return record_event(cast.agent, type, "record", "rec_1", space_id=cast.space.id)


def write_committed(cast: Cast, type: str = "record.created") -> UUID:
    with tenant(cast.account.id):
        return write(cast, type).id


def seal(cast: Cast) -> int:
    with tenant(cast.account.id):
        return seal_events(cast.account.id)


def sealed(cast: Cast) -> list[Event]:
    with tenant(cast.account.id):
        return list(Event.objects.sealed().order_by("seq"))


def in_thread(act: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.usefixtures("inside")
def test_events_are_numbered_in_order_and_chained(cast: Cast) -> None:
    seal_events(cast.account.id)
    first = [write(cast, f"record.t{n}") for n in range(3)]
    seal_events(cast.account.id)
    later = [write(cast, "record.later")]
    seal_events(cast.account.id)
    chain = list(Event.objects.order_by("seq"))
    assert [e.seq for e in chain] == list(range(1, len(chain) + 1))
    assert [e.id for e in chain][-4:] == [e.id for e in [*first, *later]]
    previous = b""
    for event in chain:
        assert bytes(event.previous_hash or b"") == previous
        assert bytes(event.hash or b"") == chain_hash(previous, event)
        previous = bytes(event.hash or b"")


@pytest.mark.usefixtures("inside")
def test_sealing_again_changes_nothing(cast: Cast) -> None:
    write(cast)
    seal_events(cast.account.id)
    before = list(Event.objects.order_by("id").values())
    assert seal_events(cast.account.id) == 0
    assert list(Event.objects.order_by("id").values()) == before


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("change", [{"summary": "nothing"}, {"type": "other"}, {"actor": "someone else"}])
def test_what_an_event_says_cannot_be_changed(cast: Cast, change: dict[str, str]) -> None:
    event = write(cast)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Event.objects.filter(id=event.id).update(**change)


@pytest.mark.usefixtures("inside")
def test_an_event_cannot_be_deleted(cast: Cast) -> None:
    event = write(cast)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Event.objects.filter(id=event.id).delete()


@pytest.mark.usefixtures("inside")
def test_a_sealed_event_cannot_be_sealed_otherwise(cast: Cast) -> None:
    event = write(cast)
    seal_events(cast.account.id)
    assert Event.objects.filter(id=event.id).update(seq=99, hash=b"x") == 0
    assert Event.objects.get(id=event.id).seq != 99


@pytest.mark.usefixtures("inside")
def test_accounts_have_chains_of_their_own(cast: Cast) -> None:
    write(cast)
    seal_events(cast.account.id)
    other = cast.outsider.account_id
    with tenant(other):
        record_event(cast.outsider, "record.created", "record", "rec_2")
        seal_events(other)
        assert Event.objects.order_by("seq").values_list("seq", flat=True)[0] == 1


@pytest.mark.django_db(transaction=True)
def test_more_events_than_one_run_seals_are_sealed_by_the_next(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(cast)
    monkeypatch.setattr(events, "BATCH", 2)
    with tenant(cast.account.id):
        for _ in range(5):
            write(cast)
    while run_due_jobs():
        pass
    with tenant(cast.account.id):
        assert Event.objects.filter(seq=None).count() == 0
    assert not Job.objects.filter(kind=events.SEAL).exists()


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_leaves_no_event_and_no_job(cast: Cast) -> None:
    run_due_jobs()
    before = len(sealed(cast))
    with pytest.raises(ZeroDivisionError), tenant(cast.account.id):
        write(cast)
        raise ZeroDivisionError
    assert not Job.objects.exists()
    assert (seal(cast), len(sealed(cast))) == (0, before)


@pytest.mark.django_db(transaction=True)
def test_an_open_transaction_holds_up_neither_other_writers_nor_sealing(cast: Cast) -> None:
    seal(cast)
    with tenant(cast.account.id):
        slow = write(cast, "record.slow")
        other = in_thread(lambda: (write_committed(cast, "record.quick"), seal(cast)))
        other.join(timeout=20)
        assert not other.is_alive()
    read = sealed(cast)
    assert (read[-1].type, slow.id in {e.id for e in read}) == ("record.quick", False)
    seal(cast)
    after = [e for e in sealed(cast) if (e.seq or 0) > (read[-1].seq or 0)]
    assert [e.id for e in after] == [slow.id]


@pytest.mark.django_db(transaction=True)
def test_a_reader_beside_many_writers_and_sealers_misses_nothing(cast: Cast) -> None:
    seal(cast)
    last = len(sealed(cast))
    done, read = threading.Event(), list[Event]()

    def follow() -> None:
        while True:
            stop = done.is_set()
            with tenant(cast.account.id):
                after = read[-1].seq if read else last
                new = list(Event.objects.filter(seq__gt=after).order_by("seq"))
            read.extend(new)
            if stop and not new:
                return

    def work(number: int) -> list[UUID]:
        if number < 2:
            for _ in range(30):
                seal(cast)
            return []
        return [write_committed(cast) for _ in range(20)]

    reader = in_thread(follow)
    written = {id for ids in at_once(8, work) if isinstance(ids, list) for id in ids}
    while seal(cast):
        pass
    done.set()
    reader.join()
    assert [e.seq for e in read] == list(range(last + 1, last + 121))
    assert {e.id for e in read} == written
