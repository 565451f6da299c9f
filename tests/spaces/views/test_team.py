"""The pages on which a team is renamed and gets another space."""

import pytest

from accounts.models import Account, Event
from memoryhub.common.tenancy import tenant
from spaces.models import Space
from tests.conftest import Cast
from tests.pages import browser_of, text_of

TEAM, NEW = "/a/acme/settings/", "/a/acme/spaces/new/"
SPACE = {
    "name": "Harbour",
    "time_zone": "Europe/Zurich",
    "visibility": "members",
    "slug": "",
    "description": "",
}


def events(cast: Cast, type: str) -> list[str]:
    with tenant(cast.account.id):
        return list(Event.objects.filter(type=type).values_list("actor", flat=True))


def spaces(cast: Cast) -> set[str]:
    with tenant(cast.account.id):
        return set(Space.objects.values_list("slug", flat=True))


def test_a_team_is_called_otherwise_and_found_at_its_old_address(cast: Cast) -> None:
    client = browser_of(cast.admin)
    assert client.post(TEAM, {"name": " Acme & Sons "}).status_code == 302
    assert Account.objects.get(id=cast.account.id).name == "Acme & Sons"
    assert "Acme &amp; Sons" in text_of(client.get("/a/acme/keys/"))
    assert events(cast, "account.renamed") == [f"person:{cast.admin.user_id}"]


def test_the_same_name_again_is_no_event(cast: Cast) -> None:
    browser_of(cast.owner).post(TEAM, {"name": "Acme"})
    assert events(cast, "account.renamed") == []


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "x" * 121])
def test_a_name_has_to_be_seen(cast: Cast, name: str) -> None:
    answer = browser_of(cast.owner).post(TEAM, {"name": name})
    assert (answer.status_code, 'aria-invalid="true"' in text_of(answer)) == (422, True)
    assert Account.objects.get(id=cast.account.id).name == "Acme"


def test_who_does_not_manage_the_team_reads_its_page_and_renames_nothing(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    page = text_of(client.get(TEAM))
    assert 'name="name"' not in page
    assert "New space" not in page
    assert client.post(TEAM, {"name": "Mine"}).status_code == 403
    assert client.get(NEW).status_code == 403
    assert Account.objects.get(id=cast.account.id).name == "Acme"


def test_a_space_is_made_in_the_browser(cast: Cast) -> None:
    client = browser_of(cast.owner)
    answer = client.post(NEW, SPACE)
    assert answer["Location"] == "/a/acme/harbour/inbox/"
    assert "“Harbour” is there." in text_of(client.get(answer["Location"]))
    with tenant(cast.account.id):
        made = Space.objects.get(slug="harbour")
    assert (made.name, made.time_zone, made.visibility) == ("Harbour", "Europe/Zurich", "members")
    assert events(cast, "space.created")[-1] == f"person:{cast.owner.user_id}"


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"slug": "main"}, "slug", "exists already"),
        ({"slug": "Two words"}, "slug", "small letters"),
        ({"slug": "keys"}, "slug", "the address of a page"),
        ({"name": "東京"}, "slug", "None can be made of this name"),
        ({"name": "\u200b"}, "name", "can be seen"),
        ({"time_zone": "Zurich"}, "time_zone", "IANA time zone"),
        ({"visibility": "nobody"}, "visibility", "valid choice"),
    ],
)
def test_what_is_wrong_with_a_new_space_stands_beside_the_field(
    cast: Cast, wrong: dict[str, str], field: str, said: str
) -> None:
    before = spaces(cast)
    answer = browser_of(cast.owner).post(NEW, {**SPACE, **wrong})
    beside = text_of(answer).partition(f'id="id_{field}_error"')[2].partition("</ul>")[0]
    assert (answer.status_code, said in beside) == (422, True)
    assert spaces(cast) == before


def test_a_name_without_latin_letters_does_with_a_slug(cast: Cast) -> None:
    browser_of(cast.owner).post(NEW, {**SPACE, "name": "東京", "slug": "tokyo"})
    assert "tokyo" in spaces(cast)
