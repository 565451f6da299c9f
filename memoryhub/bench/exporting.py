"""How long an export of many memories takes, and how much memory: `memoryhub export` as a process of its own."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from memoryhub.running.instance import open_instance

if TYPE_CHECKING:
    from spaces.models import Space

BATCH = 2_000
WORDS = [
    "harbour",
    "berth",
    "pilot",
    "ledger",
    "tide",
    "crane",
    "quay",
    "winter",
    "survey",
    "engine",
    "signal",
    "cargo",
]
SECONDS, MEGABYTES = 60, 256


def run(data_dir: Path | None, memories: int) -> Iterator[str]:
    """Lines to print. What was made for it is deleted again."""
    with open_instance(data_dir) as instance:
        import django

        django.setup()
        space = _filled(memories)
        yield f"{memories:,} memories in a space of their own"
        try:
            yield _measured(instance.data_dir, space, memories)
        finally:
            _emptied(space)


def _filled(memories: int) -> Space:
    from accounts.actor import system_actor
    from accounts.domain.accounts import only_account
    from memoryhub.common.tenancy import tenant
    from spaces.domain.spaces import create_space

    account, slug = only_account(), f"export-{uuid4().hex[:8]}"
    with tenant(account.id):
        space = create_space(system_actor(account.id), name=slug, slug=slug)
    for start in range(0, memories, BATCH):
        with tenant(account.id):
            _add(space, range(start, min(start + BATCH, memories)))
    return space


def _add(space: Space, numbers: range) -> None:
    from django.utils import timezone

    from spaces.models import Memory

    now = timezone.now()
    times = dict.fromkeys(("occurred_at", "last_seen_at", "created_at", "updated_at"), now)
    Memory.objects.bulk_create(
        Memory(
            account_id=space.account_id,
            space=space,
            text=f"Note {n}: " + " ".join(WORDS[(n * 7 + k * k) % len(WORDS)] for k in range(10 + n % 30)),
            tags=[WORDS[n % len(WORDS)]],
            identity=hashlib.sha256(f"{space.id}:{n}".encode()).digest(),
            written_by="system:system",
            **times,
        )
        for n in numbers
    )


def _measured(data_dir: Path, space: Space, memories: int) -> str:
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "export.zip"
        began = time.perf_counter()
        command = [sys.executable, "-m", "memoryhub", "export", "--data-dir", str(data_dir)]
        subprocess.run(
            [*command, "--space", space.slug, "--output", str(target)],
            check=True,
            env=os.environ,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - began
        size = target.stat().st_size / 1e6
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    megabytes = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    busy = usage.ru_utime + usage.ru_stime
    held = "within" if seconds <= SECONDS and megabytes <= MEGABYTES else "BEYOND"
    return (
        f"exported in {seconds:.1f} s ({busy:.1f} s of them computing) with at most {megabytes:.0f} MB of memory, "
        f"{size:.1f} MB: {held} {SECONDS} s and {MEGABYTES} MB"
    )


def _emptied(space: Space) -> None:
    from memoryhub.common.tenancy import tenant
    from spaces.models import Memory

    with tenant(space.account_id):
        rows = Memory.objects.filter(account_id=space.account_id, space_id=space.id)
        rows._raw_delete(rows.db)
