"""Rules in a browser: their conditions are rows of a form."""

import re
import time
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from actions.domain.policies.rules import Draft, create_policy
from actions.forms import CONDITION_WORDS, KNOWN, PolicyForm, rows_of
from actions.models import Policy
from memoryhub.common.tenancy import tenant
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.pages import SPACE, freshly_signed_in, text_of

PAGE = f"{SPACE}/policies/new/"
RULE = {"name": "Launch", "effect": "require", "class_name": "slack.send", "approvals": "2", "step": "start"}


@pytest.fixture
def client(cast: Cast) -> Client:
    return freshly_signed_in(cast.owner, time.time())


def rows(*told: tuple[str, str, str]) -> dict[str, list[str]]:
    return {name: [row[at] for row in told] for at, name in enumerate(("what", "member", "value"))}


def beside(page: HttpResponse, control: str) -> list[str]:
    """What is said beside the controls of this name, in order."""
    faults = re.findall(rf'id="{control}-\d+-error">(.*?)</ul>', text_of(page))
    return [" ".join(re.findall(r"<li>(.*?)</li>", fault)) for fault in faults]


def stored(cast: Cast) -> Any:
    with tenant(cast.account.id):
        return Policy.objects.get().conditions


@pytest.mark.django_db
def test_each_filled_row_is_a_condition_and_empty_ones_are_left_out(cast: Cast, client: Client) -> None:
    sent = rows(
        ("channels", "", "#launch, #general"), ("", "", ""), ("max_length", "", "200"), ("no_mentions", "", ""),
        ("payload", "message", "We are live."), ("payload", "n", "5"), ("payload", "to", '["a@b.example"]'),
        ("payload", "text", '"5"'),
    )  # fmt: skip
    assert client.post(PAGE, {**RULE, **sent}).status_code == 302
    assert stored(cast) == {
        "channels": ["#launch", "#general"],
        "max_length": 200,
        "no_mentions": True,
        "payload": {"message": "We are live.", "n": 5, "to": ["a@b.example"], "text": "5"},
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "control", "said"),
    [
        (("max_length", "", "many"), "value", "Must be a whole number from 0."),
        (("max_length", "", "-1"), "value", "Must be a whole number from 0."),
        (("channels", "", " , "), "value", "Name at least one."),
        (("repositories", "", "octo/hello"), "what", "Is no condition of this class."),
        (("colour", "", "red"), "what", "Choose what has to hold, or empty the row."),
        (("", "", "red"), "what", "Choose what has to hold, or empty the row."),
        (("payload", " ", "red"), "member", "Name the member of the payload."),
    ],
)
def test_what_is_wrong_stands_beside_its_control(
    cast: Cast, client: Client, row: tuple[str, str, str], control: str, said: str
) -> None:
    page = client.post(PAGE, {**RULE, **rows(("no_mentions", "", ""), row)})
    assert page.status_code == 422
    assert beside(page, control) == [said]
    assert f'id="{control}-2-error"' in text_of(page)
    assert "What is wrong stands beside it." in text_of(page)
    with tenant(cast.account.id):
        assert not Policy.objects.exists()


@pytest.mark.django_db
def test_the_same_thing_is_said_in_one_row(client: Client) -> None:
    twice = rows(("channels", "", "#a"), ("channels", "", "#b"), ("payload", "m", "1"), ("payload", "m", "2"))
    page = client.post(PAGE, {**RULE, **twice})
    assert beside(page, "what") == ["Stands in another row already. Put both into one."]
    assert beside(page, "member") == ["Stands in another row already."]


@pytest.mark.django_db
def test_more_rows_are_there_for_the_asking_and_keep_what_was_written(client: Client) -> None:
    page = client.post(PAGE, {**RULE, **rows(("channels", "", "#launch")), "step": "more"})
    assert page.status_code == 200
    assert text_of(page).count('name="what"') == 7
    assert "#launch</textarea>" in text_of(page)
    assert 'value="Launch"' in text_of(page)
    assert "errorlist" not in text_of(page)


@pytest.mark.django_db
def test_a_rule_made_of_an_action_pins_its_payload_row_by_row_and_starts_unchanged(
    cast: Cast, client: Client
) -> None:
    payload = {"text": "Two\nlines", "n": 5, "five": "5", "to": ["a"], "none": None}
    with tenant(cast.account.id):
        action = proposed(cast, payload=payload)
    page = text_of(client.get(f"{PAGE}?like={action.short_id}"))
    members = re.findall(r'name="member"[^>]*value="([^"]*)"', page)
    values = re.findall(r'name="value"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert {m for m in members if m} == set(payload)
    as_is = [
        ("payload" if m else "", m, v.replace("&quot;", '"')) for m, v in zip(members, values, strict=True)
    ]
    sent = {**RULE, "effect": "auto", "class_name": "chat.send", **rows(*as_is)}
    assert client.post(PAGE, sent).status_code == 302
    assert stored(cast) == {"payload": payload}


@pytest.mark.django_db
def test_the_list_tells_conditions_in_words(cast: Cast, client: Client) -> None:
    with tenant(cast.account.id):
        conditions = {"channels": ["#launch"], "payload": {"urgent": True}}
        create_policy(cast.owner.in_space("main"), Draft("Launch", "require", "slack.send", conditions))
    page = text_of(client.get(f"{SPACE}/policies/"))
    assert "channel is one of <b>#launch</b>" in page
    assert "urgent is <b>true</b>" in page


def test_every_condition_there_is_can_be_chosen() -> None:
    assert CONDITION_WORDS.keys() == KNOWN.keys()


@pytest.mark.django_db
def test_whom_a_letter_reaches_is_named_by_domain_and_by_address(cast: Cast, client: Client) -> None:
    letter = {**RULE, "class_name": "gmail.reply"}
    named = rows(("domains", "", "acme.example, *.acme.example"), ("recipients", "", "ann@acme.example"))
    assert client.post(PAGE, {**letter, **named}).status_code == 302
    assert stored(cast) == {"domains": ["acme.example", "*.acme.example"], "recipients": ["ann@acme.example"]}
    wrong = client.post(PAGE, {**letter, **rows(("domains", "", "no domain"))})
    assert "like acme.example" in beside(wrong, "value")[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1, max_size=3)


@given(pins=st.dictionaries(st.text("abc.", min_size=1), JSON, min_size=1, max_size=3), names=NAMES)
def test_whatever_a_rule_holds_reads_back_the_same(pins: dict[str, Any], names: list[str]) -> None:
    conditions = {"payload": pins, "channels": names, "max_length": 3, "no_mentions": True}
    form = PolicyForm(None, initial={}, rows=rows_of(conditions))
    found: dict[str, Any] = {}
    for row in form.filled:
        row.read_into(found)
        assert row.faults == {}
    assert found == conditions
