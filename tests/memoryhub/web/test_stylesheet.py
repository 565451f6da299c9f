import subprocess
import sys
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TAILWIND = Path(sys.executable).with_name("tailwindcss")
COMMITTED = ROOT / "memoryhub/static/app.css"


def test_the_committed_stylesheet_is_what_its_sources_build(tmp_path):
    built = tmp_path / "app.css"
    subprocess.run(
        [str(TAILWIND), "--input", "memoryhub/styles/app.css", "--output", str(built), "--minify"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    assert COMMITTED.read_text() == built.read_text(), "run: poe styles"


def test_the_stylesheet_loads_nothing_from_elsewhere():
    text = COMMITTED.read_text()
    assert "url(http" not in text
    assert "url(//" not in text
    assert "data:" not in text
    assert "@import" not in text
