"""What holds for every page: found by walking the addresses, so that a new page can't be missed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.conftest import Cast
from tests.pages import browser_of

VALUES = {
    "account": "acme", "space": "main", "action": "A1", "memory": f"mem_{'0' * 32}", "kind": "day", "day": "2026-01-01",
    "collection": "tasks", "record": f"rec_{'0' * 32}", "namespace": "flags", "plan": f"pln_{'0' * 32}",
    "vendor": "slack", "connection": f"con_{'0' * 32}", "run": f"run_{'0' * 32}", "key": f"key_{'0' * 32}",
    "summary": f"sum_{'0' * 32}", "transaction": f"txn_{'0' * 32}", "reminder": f"rmd_{'0' * 32}",
    "capture": f"cap_{'0' * 32}", "policy": f"pol_{'0' * 32}",
    "transfer": "0" * 32, "webhook": f"whk_{'0' * 32}", "delivery": f"dlv_{'0' * 32}",
}  # fmt: skip


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        elif "<slug:account>" in route:
            yield "/" + re.sub(r"<\w+:(\w+)>", lambda match: VALUES.get(match[1], "1"), route)


PAGES = sorted(set(addresses(get_resolver().url_patterns)))


def test_there_are_pages() -> None:
    assert len(PAGES) >= 30


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_is_sent_to_sign_in(cast: Cast, address: str, method: str) -> None:
    answer = getattr(Client(), method)(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=/a/acme/")


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_finds_the_same_nothing_as_in_a_team_that_is_not_there(
    cast: Cast, address: str, method: str
) -> None:
    client = browser_of(cast.outsider)
    foreign = getattr(client, method)(address)
    absent = getattr(client, method)(address.replace("/acme/", "/nowhere/"))
    assert foreign.status_code == absent.status_code == 404
    assert b"Acme" not in foreign.content
    assert strip(foreign.content, "acme") == strip(absent.content, "nowhere")


def strip(content: bytes, slug: str) -> str:
    """Without the address of the page itself, which its forms send back, and the form tokens."""
    text = content.decode().replace(f"/a/{slug}/", "/a/x/")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


def test_the_content_policy_lets_in_nothing_inline_and_nothing_from_elsewhere(cast: Cast) -> None:
    answer = browser_of(cast.owner).get("/a/acme/main/inbox/")
    policy = dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize(
    "template", sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html")), ids=lambda path: path.name
)
def test_no_template_has_anything_inline(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:|\|safe\b|autoescape off|hx-on", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)(?! type=\"application/json\")", text)  # data runs nowhere


def test_a_page_of_decisions_is_never_kept_by_caches_in_between(cast: Cast) -> None:
    answer = browser_of(cast.owner).get("/a/acme/main/inbox/")
    assert "private" in answer["Cache-Control"]
    assert "no-store" in answer["Cache-Control"]
