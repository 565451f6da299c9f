"""A file sent with a key."""

import json
from typing import Any

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client

from accounts.domain.keys import create_key
from accounts.scopes import Scope
from memoryhub.common.tenancy import tenant
from spaces.models import Memory
from tests.conftest import Cast

pytestmark = pytest.mark.django_db

FILE = b"Has a dog called Biscuit.\nPrefers tea."


def secret(cast: Cast, *scopes: Scope, who: str = "owner") -> str:
    with tenant(cast.account.id):
        made = create_key(
            getattr(cast, who), name="x", scopes=[str(s) for s in scopes], default_space_id=cast.space.id
        )
    return made.secret


def answer(key: str, query: str = "", content: bytes = FILE) -> HttpResponse:
    return Client().generic(
        "POST",
        f"/v1/import?name=chatgpt.txt{query}",
        content,
        content_type="application/octet-stream",
        headers={"Authorization": f"Bearer {key}"},
    )


def sent(key: str, query: str = "", content: bytes = FILE) -> tuple[int, dict[str, object]]:
    told = answer(key, query, content)
    return told.status_code, json.loads(told.content)


def stored(cast: Cast) -> int:
    with tenant(cast.account.id):
        return Memory.objects.count()


def test_a_file_is_rehearsed_and_imported(cast: Cast) -> None:
    key = secret(cast, Scope.SPACE_ADMIN)
    status, report = sent(key, "&dry_run=true")
    assert (status, report["dry_run"], report["conflicts"], stored(cast)) == (200, True, 0, 0)
    status, report = sent(key)
    assert report["counts"] == {"memory": {"new": 2, "same": 0, "changed": 0, "conflicting": 0}}
    assert (status, report["system"], stored(cast)) == (200, "ChatGPT", 2)


@pytest.mark.parametrize(
    ("scopes", "who", "query", "status"),
    [
        ([Scope.MEMORY_WRITE, Scope.SPACE_WRITE], "owner", "", 403),
        ([Scope.SPACE_ADMIN], "teammate", "", 403),
        ([Scope.SPACE_ADMIN], "owner", "&dry_run=yes", 400),
        ([Scope.SPACE_ADMIN], "owner", "&keep=1", 400),
        ([Scope.SPACE_ADMIN], "owner", "&space=nowhere", 404),
    ],
)
def test_others_are_refused_and_nothing_comes(
    cast: Cast, scopes: list[Scope], who: str, query: str, status: int
) -> None:
    assert sent(secret(cast, *scopes, who=who), query)[0] == status
    assert stored(cast) == 0


def test_a_file_that_is_too_large_is_refused(cast: Cast, settings: object) -> None:
    settings.IMPORT_BYTES = 10  # type: ignore[attr-defined]
    assert sent(secret(cast, Scope.SPACE_ADMIN))[0] == 413
    assert stored(cast) == 0


def test_a_bad_line_is_named(cast: Cast) -> None:
    status, told = sent(secret(cast, Scope.SPACE_ADMIN), content=b"fine\n\xff")
    assert (status, "chatgpt.txt line 2" in json.dumps(told)) == (422, True)


def test_an_upload_counts_as_a_request_and_as_a_write(cast: Cast, settings: Any) -> None:
    settings.RATE_LIMIT_REQUESTS, settings.RATE_LIMIT_WRITES = 9, 1
    key = secret(cast, Scope.SPACE_ADMIN)
    with time_machine.travel("2026-03-02T12:00:20Z", tick=False):
        first, second = answer(key), answer(key)
    assert (first.status_code, first["RateLimit"]) == (200, '"requests";r=8;t=40')
    assert (second.status_code, second["Retry-After"]) == (429, "40")
