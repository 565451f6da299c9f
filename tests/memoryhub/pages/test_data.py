"""The page for export and import, and the export by staff."""

import time
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Event, User
from accounts.views.fresh import JOINED_AT
from memoryhub.common.ids import typed_id
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import open_export
from memoryhub.flows.staff_export import check_staff
from spaces.models import Transfer
from tests.conftest import Cast
from tests.pages import BACKEND, SPACE, freshly_signed_in, text_of

PAGE = f"{SPACE}/data/"


def transfers(cast: Cast) -> list[Transfer]:
    with tenant(cast.account.id):
        return list(Transfer.objects.order_by("id"))


def test_an_export_is_asked_for_and_its_progress_shown(cast: Cast) -> None:
    client = freshly_signed_in(cast.owner, time.time())
    asked = client.post(PAGE, {"scope": "space"})
    assert (asked.status_code, asked["Location"]) == (302, f"{PAGE}#yours")
    [transfer] = transfers(cast)
    assert (transfer.direction, transfer.space_id, transfer.state) == ("out", cast.space.id, "waiting")
    page = text_of(client.get(PAGE))
    assert "Export of this space" in page
    assert page.index('id="yours"') < page.index("Start the export")
    assert "<progress" in page
    row = text_of(client.get(f"{PAGE}{transfer.id}/"))
    assert 'hx-trigger="every 2s"' in row
    client.post(f"{PAGE}{transfer.id}/cancel/")
    assert transfers(cast)[0].state == "cancelled"
    assert "hx-trigger" not in text_of(client.get(f"{PAGE}{transfer.id}/"))


def test_a_file_is_rehearsed_before_anything_is_imported(cast: Cast) -> None:
    client = freshly_signed_in(cast.owner, time.time())
    file = SimpleUploadedFile("chatgpt.txt", b"Has a dog called Biscuit.")
    assert client.post(PAGE, {"file": file}).status_code == 302
    [transfer] = transfers(cast)
    assert (transfer.direction, transfer.name, transfer.dry_run, transfer.size) == (
        "in",
        "chatgpt.txt",
        True,
        25,
    )


def test_a_secret_in_the_name_of_a_file_is_kept_nowhere(cast: Cast) -> None:
    secret = expand("ghp_{crc:30}", Random(4))
    client = freshly_signed_in(cast.owner, time.time())
    assert client.post(PAGE, {"file": SimpleUploadedFile(f"{secret}.txt", b"Likes tea.")}).status_code == 302
    assert [transfer.name for transfer in transfers(cast)] == ["[REDACTED:github_token].txt"]


def test_without_a_file_the_form_says_so(cast: Cast) -> None:
    client = freshly_signed_in(cast.owner, time.time())
    assert client.post(PAGE, {"part": ""}).status_code == 422


def test_who_took_what_away_is_shown_to_those_who_manage(cast: Cast) -> None:
    with tenant(cast.account.id):
        open_export(cast.admin, cast.space.id)
    page = text_of(freshly_signed_in(cast.owner, time.time()).get(PAGE))
    assert "Admin" in page.partition("Who took what away")[2]


# Staff


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_user("staff@hub.example", is_staff=True)


def as_staff(user: User, cast: Cast) -> Client:
    client = Client()
    client.force_login(user, BACKEND)
    session = client.session
    session[JOINED_AT] = time.time()
    session.save()
    client.post("/admin/account/", {"account": typed_id("acc", cast.account.id)})
    return client


def chosen(client: Client, cast: Cast) -> Any:
    form = {"action": "export_space", "_selected_action": [str(cast.space.id)]}
    return client.post("/admin/spaces/space/", form)


def allow(user: User, *names: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))


def test_staff_with_the_permission_export_a_space_and_its_owner_sees_it(cast: Cast, staff: User) -> None:
    allow(staff, "view_space", "export_space")
    answer = chosen(as_staff(staff, cast), cast)
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"].startswith('attachment; filename="memory-hub-main-')
    with tenant(cast.account.id):
        event = Event.objects.get(type="export.created")
    assert (event.actor, event.space_id) == (f"staff:{staff.id}", cast.space.id)
    owner = freshly_signed_in(cast.owner, time.time())
    assert "staff of the installation" in text_of(owner.get(PAGE))
    check_staff(staff)


def test_staff_without_it_do_not(cast: Cast, staff: User) -> None:
    allow(staff, "view_space")
    answer = chosen(as_staff(staff, cast), cast)
    assert answer["Content-Type"].startswith("text/html")
    with tenant(cast.account.id):
        assert not Event.objects.filter(type="export.created").exists()


# Erasing


def test_a_person_is_erased_after_their_address_was_typed(cast: Cast) -> None:
    client = freshly_signed_in(cast.owner, time.time())
    person = User.objects.get(id=cast.teammate.user_id)
    assert f"/members/{person.id}/erase/" in text_of(client.get(PAGE))
    address = f"/a/acme/members/{person.id}/erase/"
    assert person.email in text_of(client.get(address))
    refused = client.post(address, {"typed": "somebody@else.example"})
    assert (refused.status_code, "Nothing was erased" in text_of(refused)) == (422, True)
    receipt = text_of(client.post(address, {"typed": person.email}))
    assert typed_id("usr", person.id) in receipt
    assert person.email not in receipt
    assert client.get(address).status_code == 404
    person.refresh_from_db()
    assert not person.is_active


def test_the_last_owner_is_told_why_they_stay(cast: Cast) -> None:
    owner = User.objects.get(id=cast.owner.user_id)
    said = {cast.owner: (422, "last owner"), cast.admin: (403, "Only an owner can change")}
    for person, (status, words) in said.items():
        client = freshly_signed_in(person, time.time())
        refused = client.post(f"/a/acme/members/{owner.id}/erase/", {"typed": owner.email})
        assert (refused.status_code, words in text_of(refused)) == (status, True)
