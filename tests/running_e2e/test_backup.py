"""The drill: back up while it runs, lose everything, restore, and find all of it again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx

from memoryhub.common.keyring import new_entry
from tests.running_e2e.apart import database
from tests.running_e2e.harness import Hub, Person, hub, person_named

SEAL = "from memoryhub.common.keyring import seal; print(seal('opens', row='t/a/i/c'))"
OPEN = "from memoryhub.common.keyring import unseal; print(unseal('{sealed}', row='t/a/i/c'))"


def client(of: Hub) -> httpx.Client:
    headers = {
        "Authorization": f"Bearer {json.loads((of.data_dir / 'first-run.json').read_text())['agent_key']}"
    }
    return httpx.Client(base_url=f"{of.url}/v1/", headers=headers, timeout=30)


def said(of: Hub, *arguments: str) -> str:
    done = of.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def rewritten(file: Path, target: Path, **changes: Any) -> Path:
    """The same backup with another manifest."""
    with zipfile.ZipFile(file) as former, zipfile.ZipFile(target, "w") as archive:
        for name in former.namelist():
            content = former.read(name)
            if name == "manifest.json":
                content = json.dumps({**json.loads(content), **changes}).encode()
            archive.writestr(name, content)
    return target


def test_what_was_backed_up_is_there_again_after_everything_was_lost(owner: Person) -> None:
    file = owner.home / "hub.backup"
    with hub(owner, "first") as first:
        first.start()
        with client(first) as http:
            id = http.post("memories", json={"text": "Deploys go out on Tuesdays"}).raise_for_status().json()
            http.put("kv/prefs/tone", json={"value": "calm"}).raise_for_status()
        said(first, "backup", str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        with client(first) as http:
            http.post("memories", json={"text": "Said after the backup"}).raise_for_status()
        sealed = said(first, "manage", "shell", "--no-imports", "-c", SEAL).splitlines()[-1]
        first_run = (first.data_dir / "first-run.json").read_text()
        first.press_ctrl_c()
        shutil.rmtree(first.data_dir)
    with hub(owner, "second") as second:
        refusals = {
            "newer Memory Hub": rewritten(file, owner.home / "a", migrations=["spaces.9999_from_the_future"]),
            "PostgreSQL 99": rewritten(file, owner.home / "b", postgres=99),
            "damaged": rewritten(file, owner.home / "c", sha256="0" * 64),
            "no backup": rewritten(file, owner.home / "d", format="other"),
        }
        for words, spoilt in refusals.items():
            refused = second.run("restore", str(spoilt))
            assert refused.returncode == 1
            assert words in refused.stderr
            assert "Traceback" not in refused.stderr
        assert "checked the chain" in said(second, "restore", str(file))
        again = second.run("restore", str(file))
        assert "is not empty" in again.stderr
        (second.data_dir / "first-run.json").write_text(first_run)
        second.start()
        with client(second) as http:
            found = http.get("memories", params={"q": "deploys tuesdays"}).raise_for_status().json()
            assert http.get(f"memories/{id['memory']['id']}").status_code == 200
            assert http.get("kv/prefs/tone").raise_for_status().json()["value"] == "calm"
            assert "Said after" not in json.dumps(found)
        opened = said(second, "manage", "shell", "--no-imports", "-c", OPEN.format(sealed=sealed))
        assert opened.splitlines()[-1] == "opens"


def on(person: Person, environ: dict[str, str]) -> Callable[..., str]:
    """The command, told by URL where its database is."""

    def said(*arguments: str, refused: bool = False) -> str:
        command = [*person.command("-m")["args"], "memoryhub", *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == refused, done.stderr
        assert "Traceback" not in done.stderr
        return (done.stderr if refused else done.stdout).strip()

    return said


def test_a_database_of_ones_own_is_backed_up_lost_and_restored(place: Path) -> None:
    """What of its secrets is in the environment is not in the file."""
    with person_named("root" if os.geteuid() == 0 else os.environ.get("USER", ""), place) as person:
        given = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": str(person.home / "data"),
            "SECRET_KEY": "a key of this test",
            "KEY_PEPPER": "a pepper of this test",
            "KEYRING": new_entry(),
            "EMBEDDING_URL": "off",
        }
        notes, file = person.home / "chatgpt.txt", str(person.home / "hub.backup")
        notes.write_text("Has a dog called Biscuit.")
        for folder in ("first", "second"):
            (person.home / folder).mkdir()
        with database(person.home / "first") as first:
            urls = {"DATABASE_URL": first.url("hub_app"), "DATABASE_OWNER_URL": first.url("hub_owner")}
            said = on(person, {**given, **urls})
            assert "first owner, and a first key, are in" in said("prepare")
            assert said("prepare") == "The database is up to date."
            said("import", str(notes))
            said("backup", file)
            sealed = said("manage", "shell", "--no-imports", "-c", SEAL).splitlines()[-1]
            assert "is not empty" in said("restore", file, refused=True)
        shutil.rmtree(person.home / "first")
        kept = zipfile.ZipFile(file).read("secrets.json").decode()
        assert not [name for name in ("SECRET_KEY", "KEY_PEPPER", "KEYRING") if given[name] in kept]
        with database(person.home / "second") as second:
            urls = {"DATABASE_URL": second.url("hub_app"), "DATABASE_OWNER_URL": second.url("hub_owner")}
            said = on(person, {**given, **urls})
            newer = rewritten(Path(file), person.home / "newer", postgres=99)
            assert "PostgreSQL 99" in said("restore", str(newer), refused=True)
            assert "checked the chain" in said("restore", file)
            exported = person.home / "main.zip"
            said("export", "--output", str(exported))
            assert b"Biscuit" in zipfile.ZipFile(exported).read("memories.jsonl")
            opened = said("manage", "shell", "--no-imports", "-c", OPEN.format(sealed=sealed))
            assert opened.splitlines()[-1] == "opens"
