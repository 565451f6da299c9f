"""The drill: back up while it runs, lose everything, restore, and find all of it again."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.running_e2e.harness import Hub, Person, hub

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
