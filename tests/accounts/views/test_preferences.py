import pytest
from django.test import Client

from accounts.models import User
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
