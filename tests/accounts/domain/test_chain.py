"""Whoever owns the database changes what happened: it is found, and where."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from accounts.domain.chain import Verdict
from accounts.domain.checkpoints import check_chain, check_when_due, read_marks, verify
from accounts.domain.events import chain_hash, record_event, seal_events
from accounts.models import Checkpoint, Event
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.signing import new_signing_key
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.database import become_app, become_owner

EVENTS = 120
SIGNED_AT = (40, 80, 120)
ROUNDS = 500

Tamper = Callable[[Random, Any, int], Any]


@pytest.fixture(autouse=True)
def audited(settings: Any, tmp_path: Path) -> None:
    settings.AUDIT_KEY, settings.AUDIT_DIR = new_signing_key(), str(tmp_path / "audit")


@pytest.fixture
def chain(transactional_db: None, cast: Cast) -> Iterator[Any]:
    """The account's id. Signed at three places, and from now on in the hands of the database's owner."""
    account = cast.account.id
    with tenant(account):
        seal_events(account)
        while (last := Event.objects.sealed().count()) < EVENTS:
            write(cast, last)
            seal_events(account)
    for seq in SIGNED_AT:
        sign_at(account, seq)
    become_owner()
    yield account
    become_app()


def write(cast: Cast, number: int) -> None:
    who = (cast.agent, cast.owner, cast.admin)[number % 3]
    type, noun, prefix = KINDS[number % len(KINDS)]
    space = cast.space.id if number % 2 else None
    record_event(who, type, noun, typed_id(prefix, new_id()), space_id=space, summary=SUMMARIES[number % 4])


KINDS = [
    ("memory.created", "memory", "mem"),
    ("record.updated", "record", "rec"),
    ("value.set", "value", "val"),
    ("key.revoked", "key", "key"),
    ("member.joined", "person", "usr"),
]
SUMMARIES = ["", "3 rows", "120 rows", "by staff of the installation"]


def sign_at(account: Any, seq: int) -> None:
    """As it was put away when the chain ended there."""
    from accounts.domain import checkpoints

    with tenant(account):
        hash = bytes(Event.objects.get(account_id=account, seq=seq).hash or b"")
    mark = checkpoints._signed(account, Verdict(seq, hash, 0, 0))
    assert mark
    checkpoints.put_away(mark)


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0, "nothing was tampered with"


def changed_text(random: Random, account: Any, seq: int) -> int:
    column = random.choice(["type", "actor", "object_type", "object_id", "summary"])
    value = random.choice(["", "person:nobody", "memory.created ", "é", " at noon"])
    sql(
        f"update accounts_event set {column} = {column} || %s where account_id = %s and seq = %s",
        value or "!", account, seq,
    )  # fmt: skip
    return seq


def changed_moment(random: Random, account: Any, seq: int) -> int:
    span = random.choice(["1 microsecond", "-1 second", "1 day", "-400 days"])
    sql(
        "update accounts_event set at = at + %s::interval where account_id = %s and seq = %s",
        span, account, seq,
    )  # fmt: skip
    return seq


def changed_id(random: Random, account: Any, seq: int) -> int:
    column = random.choice(["id", "space_id"])
    sql(f"update accounts_event set {column} = %s where account_id = %s and seq = %s", new_id(), account, seq)
    return seq


def flipped_bit(random: Random, account: Any, seq: int) -> int:
    column = random.choice(["hash", "previous_hash"]) if seq > 1 else "hash"
    bit = random.randrange(256)
    sql(
        f"update accounts_event set {column} = set_bit({column}, %s, 1 - get_bit({column}, %s))"
        " where account_id = %s and seq = %s",
        bit, bit, account, seq,
    )  # fmt: skip
    return seq


def removed(random: Random, account: Any, seq: int) -> int:
    sql("delete from accounts_event where account_id = %s and seq = %s", account, seq)
    return seq


def removed_end(random: Random, account: Any, seq: int) -> int:
    sql("delete from accounts_event where account_id = %s and seq >= %s", account, seq)
    return seq


def unsealed(random: Random, account: Any, seq: int) -> int:
    sql(
        "update accounts_event set seq = null, hash = null, previous_hash = null"
        " where account_id = %s and seq = %s",
        account, seq,
    )  # fmt: skip
    return seq


def given_away(random: Random, account: Any, seq: int) -> int:
    """To another team."""
    sql(
        "update accounts_event set account_id = (select id from accounts_account where id <> %s limit 1),"
        " seq = 1000000 where account_id = %s and seq = %s",
        account, account, seq,
    )  # fmt: skip
    return seq


def swapped(random: Random, account: Any, seq: int) -> int:
    other = random.choice([n for n in range(1, EVENTS + 1) if n != seq])
    for number, place in ((seq, -1), (other, seq), (-1, other)):
        sql("update accounts_event set seq = %s where account_id = %s and seq = %s", place, account, number)
    return min(seq, other)


def put_in(random: Random, account: Any, seq: int) -> int:
    """A forged event, with room made for it."""
    for offset in (1_000_000, 1 - 1_000_000):
        sql(
            "update accounts_event set seq = seq + %s where account_id = %s and seq >= %s",
            offset, account, seq,
        )  # fmt: skip
    sql(
        "insert into accounts_event (id, account_id, seq, type, at, actor, object_type, object_id, summary,"
        " previous_hash, hash) select %s, account_id, %s, type, at, actor, object_type, object_id, summary,"
        " previous_hash, hash from accounts_event where account_id = %s and seq = %s",
        new_id(), seq, account, seq + 1,
    )  # fmt: skip
    return seq


def rewritten(random: Random, account: Any, seq: int) -> range:
    """By somebody who knows how hashes are made, from there to the end. Found at the next signature."""
    rows = list(Event.objects.filter(account_id=account, seq__gte=seq).order_by("seq"))
    previous = bytes(rows[0].previous_hash or b"")
    rows[0].summary = "another story"
    for event in rows:
        event.previous_hash, event.hash = previous, chain_hash(previous, event)
        previous = event.hash
    Event.objects.bulk_update(rows, ["summary", "previous_hash", "hash"])
    return range(seq, seq + 1)


TAMPERS: list[Tamper] = [
    changed_text, changed_text, changed_moment, changed_id, flipped_bit, removed, removed_end, unsealed,
    given_away, swapped, put_in, rewritten,
]  # fmt: skip


def tampered(random: Random, account: Any) -> tuple[str, int, Verdict]:
    tamper, seq = random.choice(TAMPERS), random.randint(1, EVENTS)
    with transaction.atomic():
        where = tamper(random, account, seq)
        verdict = verify(account)
        transaction.set_rollback(True)
    return tamper.__name__, where if isinstance(where, int) else where.start, verdict


def test_each_of_500_random_tampers_is_found_with_its_place(chain: Any) -> None:
    random, found, missed = Random(7), 0, []
    assert verify(chain) == Verdict(EVENTS, verify(chain).hash, len(SIGNED_AT), 0)
    for _ in range(ROUNDS):
        name, seq, verdict = tampered(random, chain)
        fault = verdict.fault
        exact = name != "rewritten"
        if fault and (fault.first == seq if exact else fault.first <= seq <= fault.last):
            found += 1
        else:
            missed.append((name, seq, fault))
    print(f"tampers found with their place: {found} of {ROUNDS}")
    assert missed == []


def test_a_second_event_of_one_number_is_found_wherever_it_lies(
    chain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For who owns the database nothing keeps numbers apart. Reading goes by pieces, and it may lie between two."""
    monkeypatch.setattr("accounts.domain.chain.BATCH", 10)
    for seq in (1, 5, 10, 20, 115, EVENTS):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("alter table accounts_event drop constraint event_seq")
            sql(
                "insert into accounts_event (id, account_id, seq, type, at, actor, object_type, object_id, summary,"
                " previous_hash, hash) select %s, account_id, seq, 'member.joined', at, actor, object_type, object_id,"
                " summary, previous_hash, hash from accounts_event where account_id = %s and seq = %s",
                new_id(), chain, seq,
            )  # fmt: skip
            fault = verify(chain).fault
            transaction.set_rollback(True)
        assert fault, seq
        assert fault.first == seq


@pytest.mark.parametrize("part", ["seq", "hash", "at", "signature", "key", "account"])
def test_a_checkpoint_that_was_changed_is_no_checkpoint(chain: Any, tmp_path: Path, part: str) -> None:
    file = tmp_path / "audit" / f"{chain}.jsonl"
    lines = file.read_text().splitlines()
    other = {"seq": '"seq": 40', "at": '"at": "2', "key": '"key": "'}.get(part, f'"{part}": "')
    put = {"seq": '"seq": 41', "at": '"at": "3', "key": '"key": "0'}.get(part, f'"{part}": "f')
    lines[0] = lines[0].replace(other, put)
    file.write_text("\n".join(lines))
    fault = verify(chain).fault
    assert fault
    assert "not signed by a key known here" in fault.what


def test_a_checkpoint_of_another_key_does_not_count_unless_it_is_named(chain: Any, settings: Any) -> None:
    from memoryhub.common.signing import public_key

    former, settings.AUDIT_KEY = settings.AUDIT_KEY, new_signing_key()
    assert verify(chain).fault
    assert verify(chain, keys=[public_key(former)]).fault is None


@pytest.mark.django_db(transaction=True)
def test_each_hour_the_end_of_a_whole_chain_is_signed_and_put_away(cast: Cast, tmp_path: Path) -> None:
    account = cast.account.id
    with time_machine.travel("2026-03-02T12:00Z", tick=False) as clock:
        for wait, made in ((0, True), (50, False), (10, True)):
            clock.shift(timedelta(minutes=wait))
            with tenant(account):
                write(cast, wait)
                seal_events(account)
                assert (check_when_due(account) is not None) is made
    marks = read_marks(account)
    assert [mark.at for mark in marks] == ["2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z"]
    with tenant(account):
        assert [m.seq for m in marks] == list(Checkpoint.objects.order_by("at").values_list("seq", flat=True))
        assert verify(account).marks == 2
    assert (tmp_path / "audit" / f"{account}.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.django_db(transaction=True)
def test_a_broken_chain_is_told_and_not_signed(cast: Cast) -> None:
    account = cast.account.id
    with tenant(account):
        seal_events(account)
    become_owner()
    try:
        sql("update accounts_event set summary = 'x' where account_id = %s and seq = 2", account)
    finally:
        become_app()
    with tenant(account):
        made = check_chain(account)
        assert (made.broken_at, made.signature, made.fault) == (2, None, "Event 2 is not what was sealed.")
    assert read_marks(account) == []


@pytest.mark.usefixtures("inside")
@pytest.mark.django_db
def test_a_checkpoint_is_written_once(cast: Cast) -> None:
    from django.db import ProgrammingError

    made = check_chain(cast.account.id)
    for change in ("update accounts_checkpoint set seq = 1", "delete from accounts_checkpoint"):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            sql(change)
    assert Checkpoint.objects.get().at == made.at <= timezone.now()


@pytest.mark.django_db
def test_the_application_may_not_empty_the_tables_of_what_happened() -> None:
    """TRUNCATE was granted to it for these tests alone: what it has by default says nothing of it."""
    with connection.cursor() as cursor:
        cursor.execute("select defaclacl::text from pg_default_acl where defaclobjtype = 'r'")
        assert "hub_app=arwd/" in cursor.fetchone()[0]
        cursor.execute(
            "select relname, has_table_privilege('hub_app', oid, 'delete'),"
            " has_table_privilege('hub_app', oid, 'update'), has_column_privilege('hub_app', oid, 'at', 'update')"
            " from pg_class where relname in ('accounts_event', 'accounts_checkpoint') order by 1"
        )
        assert cursor.fetchall() == [
            ("accounts_checkpoint", False, False, False),
            ("accounts_event", False, False, False),
        ]
