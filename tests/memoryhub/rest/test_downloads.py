"""The export as it is downloaded with a key, over the whole application."""

import io
import zipfile
from typing import Any

import pytest
from django.test import RequestFactory

from accounts.domain.keys import create_key
from accounts.models import Event, Membership
from accounts.scopes import Scope
from memoryhub.common.errors import Unauthorized
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import open_export
from memoryhub.rest.downloads import _check_still
from spaces.domain.memories import remember
from tests.conftest import Cast
from tests.inprocess import InProcess

pytestmark = pytest.mark.django_db(transaction=True)


def secret(cast: Cast, *scopes: Scope, who: str = "owner") -> str:
    with tenant(cast.account.id):
        made = create_key(
            getattr(cast, who), name="x", scopes=[str(s) for s in scopes], default_space_id=cast.space.id
        )
    return made.secret


def test_a_key_with_the_scope_downloads_the_space(cast: Cast, in_process: InProcess) -> None:
    with tenant(cast.account.id):
        remember(cast.agent, text="Deploys go out on Tuesdays")
    answer = in_process.request(
        "GET", "/v1/export", headers={"Authorization": f"Bearer {secret(cast, Scope.EXPORT_READ)}"}
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"].startswith('attachment; filename="memory-hub-main-')
    assert "no-store" in answer.headers["cache-control"]
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert b"Deploys go out on Tuesdays" in archive.read("memories.jsonl")
    with tenant(cast.account.id):
        assert Event.objects.filter(type="export.created").count() == 1


@pytest.mark.parametrize(
    ("scopes", "who", "query", "status"),
    [
        ([Scope.MEMORY_READ], "owner", "", 403),
        ([Scope.EXPORT_READ], "teammate", "", 403),
        ([Scope.EXPORT_READ], "owner", "?scope=everything", 400),
        ([Scope.EXPORT_READ], "owner", "?space=nowhere", 404),
        ([Scope.EXPORT_READ], "owner", "?scope=account", 200),
    ],
)
def test_others_are_refused_as_everywhere(
    cast: Cast, in_process: InProcess, scopes: list[Scope], who: str, query: str, status: int
) -> None:
    answer = in_process.request(
        "GET", f"/v1/export{query}", headers={"Authorization": f"Bearer {secret(cast, *scopes, who=who)}"}
    )
    assert answer.status_code == status
    if status != 200:
        assert set(answer.json()) == {"error"}


def test_who_is_removed_meanwhile_may_not_go_on(cast: Cast) -> None:
    request = RequestFactory().get("/v1/export", headers={"X-API-Key": secret(cast, Scope.EXPORT_READ)})
    with tenant(cast.account.id):
        export = open_export(cast.owner, "main")
    _check_still(request, export)
    Membership.objects.filter(user_id=cast.owner.user_id).delete()
    with pytest.raises(Unauthorized):
        _check_still(request, export)


def test_a_download_is_one_request_however_long_it_takes(
    cast: Cast, in_process: InProcess, settings: Any
) -> None:
    settings.RATE_LIMIT_REQUESTS = 2
    headers = {"X-API-Key": secret(cast, Scope.EXPORT_READ)}
    answer = in_process.request("GET", "/v1/export", headers=headers)
    assert answer.headers["ratelimit"].startswith('"requests";r=1;')
    with tenant(cast.account.id):
        export = open_export(cast.owner, "main")
    for _second in range(3):
        _check_still(RequestFactory().get("/v1/export", headers=headers), export)
    assert in_process.request("GET", "/v1/whoami", headers=headers).status_code == 200
