"""What the docs say of the tools is what is served."""

import os
import re
from pathlib import Path

import pytest
from django.conf import settings

import memoryhub.operations.catalogue  # noqa: F401
from memoryhub.operations.base import REGISTRY
from memoryhub.operations.reference import tools_page

DOCS = Path(settings.BASE_DIR) / "docs"
VARIABLE = re.compile(r'\benv(?:str|int|bool|list|secret|redis|networks)\(\s*"([A-Z_]+)"')
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")
PAGES = sorted(DOCS.rglob("*.md"))


def test_the_page_of_tools_is_made_from_the_registry() -> None:
    """With UPDATE_SNAPSHOTS=1 it is written anew."""
    page = DOCS / "tools.md"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(tools_page())
    assert page.read_text() == tools_page(), "run this test with UPDATE_SNAPSHOTS=1"


def test_every_tool_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)`", (DOCS / "tools.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(tool.name for tool in REGISTRY.tools())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_page_points_at_one_that_is_not_there(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_every_variable_that_is_read_is_explained() -> None:
    read = {
        name
        for app in ("memoryhub", "accounts", "spaces", "actions")
        for source in (Path(settings.BASE_DIR) / app).rglob("*.py")
        for name in VARIABLE.findall(source.read_text())
    }
    table = (DOCS / "running.md").read_text().partition("## What can be set")[2]
    explained = set(re.findall(r"`([A-Z_]+)`", table))
    named_by_vendor = {"GOOGLE_", "GITHUB_", "NOTION_", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"}
    assert len(read) > 50
    assert explained ^ read == {"MEMORYHUB_DATA_DIR", *named_by_vendor}
