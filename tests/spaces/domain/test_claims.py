import json

import pytest

from spaces.domain.claims import is_claim, sanitize
from spaces.domain.money import looks_financial

PAYMENTS = ["Paid $42.50 for the domain", "invoice 1001: 1.200,00 EUR", "Bought a desk, CHF 800"]
PAYMENTS += ["家賃を¥80000支払った", "午餐花了 35元", '{"amount": 5, "currency": "EUR"}']


def test_plain_text_stays_as_it_is() -> None:
    for text in (
        "owner: Ann",
        "Tea\n---\nowner: x\n---\n",
        "---",
        "{owner}",
        '["owner"]',
        '{"owner": ',
        "--- owner",
    ):
        assert (sanitize(text).text, sanitize(text).dropped) == (text, [])


def test_identity_fields_go_out_of_front_matter_with_what_hangs_on_them() -> None:
    text = "---\ntitle: Tea\nagent-id: root\nscopes:\n  - admin\n- all\nDevice Label: 'x'\ndate: 2026\n---\n"
    text += "Body\nowner: Ann\n"
    found = sanitize(text)
    assert found.text == "---\ntitle: Tea\ndate: 2026\n---\nBody\nowner: Ann\n"
    assert found.dropped == ["agent-id", "scopes", "Device Label"]


def test_front_matter_of_nothing_else_goes_whole() -> None:
    assert sanitize("---\r\nwriter: me\r\n---\r\nBody").text == "Body"


def test_identity_fields_go_out_of_the_top_of_an_object_only() -> None:
    text = json.dumps(
        {"account": 1, "fact": {"owner": "Ann"}, "deviceLabel": "x", "n": "ü"}, ensure_ascii=False
    )
    found = sanitize(text)
    assert json.loads(found.text) == {"fact": {"owner": "Ann"}, "n": "ü"}
    assert found.dropped == ["account", "deviceLabel"]


@pytest.mark.parametrize(
    "name", ["owner", "Owner", "account_id", "agentInstanceId", "agent-instance", "writer name", "scope"]
)
def test_a_claim_is_known_in_any_spelling(name: str) -> None:
    assert is_claim(name)


@pytest.mark.parametrize(
    "name", ["ownership", "title", "agents_used", "device_count", "telescope", "accounting"]
)
def test_other_fields_are_no_claims(name: str) -> None:
    assert not is_claim(name)


@pytest.mark.parametrize(
    "text",
    [
        "Paid $42.50 for the domain",
        "invoice 1001: 1.200,00 EUR",
        "Bought a desk, CHF 800",
        "家賃を¥80000支払った",
        "午餐花了 35元",
        '{"amount": 5, "currency": "EUR"}',
    ],
)
def test_payments_look_financial(text: str) -> None:
    assert looks_financial(text)


@pytest.mark.parametrize(
    "text",
    ["We pay attention to 3 things", "The limit is 20 requests", "It costs time", "$HOME is set", "{}"],
)
def test_other_prose_does_not(text: str) -> None:
    assert not looks_financial(text)
