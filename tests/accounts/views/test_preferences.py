import pytest
from django.test import Client

from accounts.domain.accounts import add_member
from accounts.models import Event, User
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of

pytestmark = pytest.mark.django_db


def test_the_chosen_appearance_is_kept_and_can_be_given_back() -> None:
    client = Client()
    client.post("/appearance/", {"theme": "dark"})
    assert '<html lang="en" dir="ltr" data-theme="dark">' in text_of(client.get("/accounts/login/"))
    client.post("/appearance/", {"theme": ""})
    assert '<html lang="en" dir="ltr">' in text_of(client.get("/accounts/login/"))


@pytest.mark.parametrize("theme", ["neon", '"><script>'])
def test_another_appearance_is_none(theme: str) -> None:
    client = Client()
    client.post("/appearance/", {"theme": theme})
    client.cookies["theme"] = "x"
    assert "data-theme" not in text_of(client.get("/accounts/login/")).partition("<head>")[0]


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "javascript:x", ""])
def test_a_form_leads_back_to_our_own_pages_only(wanted: str) -> None:
    assert Client().post("/appearance/", {"theme": "dark", "next": wanted})["Location"] == "/"


def test_a_form_leads_back_to_where_it_was() -> None:
    answer = Client().post("/appearance/", {"theme": "dark", "next": "/a/acme/main/inbox/?tab=done"})
    assert answer["Location"] == "/a/acme/main/inbox/?tab=done"


def test_single_letters_are_switched_off_and_on_for_the_person(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    for chosen in ("off", "on"):
        client.post("/shortcuts/", {"shortcuts": chosen})
        assert User.objects.get(id=cast.teammate.user_id).shortcuts is (chosen == "on")
        assert f'data-shortcuts="{chosen}"' in text_of(client.get(f"{SPACE}/inbox/"))


def test_a_wrong_zone_of_the_browser_is_utc(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    client.cookies["zone"] = "Mars/Olympus"
    assert client.get(f"{SPACE}/inbox/").status_code == 200


def test_a_person_changes_their_name_and_every_team_of_theirs_hears_of_it(cast: Cast) -> None:
    user = User.objects.get(id=cast.teammate.user_id)
    add_member(cast.outsider.account_id, user, Role.VIEWER)
    client = browser_of(cast.teammate)
    assert client.post("/profile/", {"name": " Mina Okafor ", "time_zone": ""}).status_code == 302
    user.refresh_from_db()
    assert user.name == "Mina Okafor"
    assert "Mina Okafor" in text_of(client.get("/a/acme/members/"))
    for account in (cast.account.id, cast.outsider.account_id):
        with tenant(account):
            event = Event.objects.get(type="member.renamed")
            assert (event.actor, event.object_id, event.summary) == (
                f"person:{user.id}", f"usr_{user.id.hex}", ""
            )  # fmt: skip
    client.post("/profile/", {"name": "Mina Okafor"})
    with tenant(cast.account.id):
        assert Event.objects.filter(type="member.renamed").count() == 1


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "\u200b"}, "name"),
        ({"name": "Mina", "time_zone": "Mars"}, "time_zone"),
    ],
)
def test_what_a_name_or_zone_can_not_be_is_told_beside_it_and_changes_nothing(
    cast: Cast, sent: dict[str, str], field: str
) -> None:
    answer = browser_of(cast.teammate).post("/profile/", sent)
    assert (answer.status_code, f'id="id_{field}_error"' in text_of(answer)) == (422, True)
    user = User.objects.get(id=cast.teammate.user_id)
    assert (user.name, user.time_zone) == ("Member", "UTC")


def test_times_are_shown_in_the_zone_a_person_has_chosen(cast: Cast) -> None:
    client = browser_of(cast.owner)
    client.cookies["zone"] = "Asia/Tokyo"
    for chosen, shown in (("America/Lima", "(UTC-05:00)"), ("", "(UTC+09:00)")):
        client.post("/profile/", {"name": "Owner", "time_zone": chosen})
        assert shown in text_of(client.get("/a/acme/members/"))
