"""A word in every kind of thing that a space keeps, and where in a whole database it stands."""

import subprocess
from datetime import date

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from memoryhub.common.ids import typed_id
from memoryhub.running.binaries import find_binaries
from spaces.domain import ledger
from spaces.domain.capture import Said as Turn
from spaces.domain.capture import capture
from spaces.domain.journal import Log, write_journal
from spaces.domain.memories import edit_memory, remember
from spaces.domain.plans import Changes as PlanChanges
from spaces.domain.plans import create_plan, update_plan
from spaces.domain.records import Changes, put_record
from spaces.domain.summaries import Item, Said, record_summary
from spaces.domain.values import set_value
from spaces.models import Capture, DreamChange, DreamRun, Memory, Space
from tests.conftest import Cast


def dumped() -> str:
    """Every row of every table, as its owner sees it."""
    owner = settings.DB_OWNER
    environ = {
        "PGHOST": owner["HOST"],
        "PGUSER": owner["USER"],
        "PGDATABASE": connection.settings_dict["NAME"],
    }
    done = subprocess.run(
        [str(find_binaries().program("pg_dump")), "--data-only", "--inserts", "--enable-row-security"],
        env={**environ, "PGPORT": str(owner["PORT"] or 5432)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def tables_with(phrase: str) -> set[str]:
    return {line.split()[2].split(".")[1] for line in dumped().splitlines() if _inserts(line, phrase)}


def _inserts(line: str, phrase: str) -> bool:
    return line.startswith("INSERT INTO ") and phrase in line


def plant(cast: Cast, space: Space, word: str, *, named: bool = True) -> Memory:
    """Past every walk, as the domain itself keeps it; in names too, if `named`."""
    agent = cast.agent.in_space(space.slug)
    name = word if named else "n"
    for text in (word, f"{word} again"):
        put_record(agent, "tasks", Changes(data={"note": text, word: 1}), key=name)
        write_journal(agent, date(2026, 3, 1), Log(text, decisions=[text]))
        set_value(agent, "prefs", name, text)
    memory = remember(agent, text=word, tags=[word], metadata={word: word}).memory
    edit_memory(agent, memory.id, text="something else", tags=[])
    remember(agent, text=f"{word} once more")
    _in_the_families(agent, space, memory, word)
    return memory


def _in_the_families(agent: Actor, space: Space, memory: Memory, word: str) -> None:
    sentence = f"We chose {word}."
    record_summary(agent, Said(sentence, [Item({"text": f"{sentence} Yes."})], agent=word), space=space.slug)
    entry = ledger.Entry("expense", word, "3", "EUR", merchant=word, note=word)
    ledger.void_transaction(agent, typed_id("txn", ledger.record_transaction(agent, entry).transaction.id))
    ledger.set_reminder(agent, word, "2026-03-05", recurrence="daily")
    plan = create_plan(agent, word, f"# {word}")
    update_plan(agent, plan.id, PlanChanges(title="Quiet", content="Nothing"))
    create_plan(agent, "Another", word, PlanChanges(tags=[word], metadata={word: 1}))
    Space.objects.filter(id=space.id).update(capture_mode="review")
    turn = Turn("user", f"Remember that we always keep {word} first.")
    if not capture(agent, [turn], agent=word, session=word).outcomes[0].capture:
        Capture.objects.create(  # as it was kept when nobody knew that it is a secret
            account_id=space.account_id, space=space, text=f"Keep {word} first.", origin="user", agent=word,
            session=word, fold_hash=bytes(32), written_by=agent.key, created_at=timezone.now(),
        )  # fmt: skip
    run = DreamRun.objects.create(
        account_id=space.account_id,
        space=space,
        thinker="server",
        status="applied",
        notes=word,
        conflicts=[{"reason": word}],
        started_by=agent.key,
        created_at=timezone.now(),
    )
    image = {"id": memory.id.hex, "text": word}
    DreamChange.objects.create(
        account_id=space.account_id,
        run=run,
        number=0,
        op="update",
        memories=[memory.id],
        proposal={"text": word},
        before=[image],
        state="applied",
        note=word,
    )
