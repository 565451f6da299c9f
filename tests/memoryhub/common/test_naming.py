"""A name shows all that it is: nothing hides in it, nothing in it passes for another, and it has an end."""

from random import Random

import pytest

from accounts.domain.accounts import create_account
from accounts.domain.keys import KeyChange, change_key, create_key
from actions.domain.policies.rules import Draft, create_policy
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.naming import check_naming
from memoryhub.common.secrets.shapes import expand
from spaces.domain.spaces import Settings, create_space, update_space
from tests.conftest import Cast

DECEPTIVE = [
    "Ann\u202egnp.exe",
    "Ann\u2066 Lee\u2069",
    "Ann\u200b Lee",
    "Ann\u200dLee",
    "Ann\ufeff",
    "Ann\u00ad Lee",
    "Ann\U000e0041\U000e0042",
    "Ann\u3164",
    "Ann\x1b[31m",
    "Ann\nLee",
    "Ann\rLee",
    "Cl\u0430ude",
    "\u0410nthropic",
    "Pay\u03a1al",
    "A" + "\u0301" * 9,
    "a" * 121,
    expand("ghp_{crc:30}", Random(5)),
    f"Ann {expand('ghp_{crc:30}', Random(6))}",
]
HONEST = [
    "Ann Lee",
    "Renée O’Connor-Muñoz",
    "Nguyễn Thị Minh Khai",
    "Nguye\u0302\u0303n",
    "Александр Сергеевич",
    "山田 太郎",
    "東京 Team B",
    "김민준",
    "علی\u200cرضا",
    "ശ്രീ\u200dകുമാർ",
    "Team 🚀 👩\u200d💻",
    "Ἀθηνᾶ",
    "Ann (Claude Code on my laptop) #2",
    "a" * 120,
]


@pytest.mark.parametrize("name", DECEPTIVE)
def test_a_name_that_is_not_what_it_seems_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_naming(name, "team")
    assert list(refusal.value.fields) == ["team"]
    assert "ghp_" not in str(refusal.value.body())


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u3164", "\u2800"])
def test_a_name_that_nobody_sees_is_none(name: str) -> None:
    with pytest.raises(ValidationFailed):
        check_naming(name)


@pytest.mark.parametrize("name", HONEST)
def test_names_of_people_and_teams_are_taken_in_any_language(name: str) -> None:
    assert check_naming(f" {name} ") in (name, "Nguyễn")


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("name", DECEPTIVE)
def test_whatever_has_a_name_is_held_to_it(cast: Cast, name: str) -> None:
    person, until = cast.owner.in_space("main"), {"space_ids": None, "expires_at": None}
    key = create_key(person, name="Ann", preset="reader", default_space_id=cast.space.id).key
    change = KeyChange(name, ["memory:read"], ["hub"], default_space_id=cast.space.id, **until)
    for attempt in (
        lambda: create_account(name, "another"),
        lambda: create_key(person, name=name, preset="reader", default_space_id=cast.space.id),
        lambda: change_key(person, typed_id("key", key.id), change),
        lambda: create_space(person, name=name, slug="another"),
        lambda: update_space(person, Settings(name=name)),
        lambda: create_policy(person, Draft(name, "require")),
    ):
        with pytest.raises(ValidationFailed) as refusal:
            attempt()
        assert list(refusal.value.fields) == ["name"]
