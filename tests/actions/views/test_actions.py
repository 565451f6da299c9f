import re

import pytest
from django.test import Client

from accounts.actor import system_actor
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.actions import access_action
from actions.domain.connections import add_connection
from actions.domain.revising import add_revision
from actions.models import Action
from actions.views.headline import headline
from memoryhub.common.tenancy import tenant
from tests.actions.stage import digest_of, proposed
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of

PAGE = f"{SPACE}/actions/A1/"


@pytest.fixture
def action(cast: Cast) -> Action:
    with tenant(cast.account.id):
        return proposed(cast)


def status_of(cast: Cast) -> str:
    with tenant(cast.account.id):
        return access_action(cast.owner, "A1").status


def test_approving_sends_back_the_digest_of_what_was_shown(cast: Cast, action: Action) -> None:
    client = browser_of(cast.approver)
    page = client.get(PAGE)
    assert f'name="digest" value="{digest_of(action)}"' in text_of(page)
    answer = client.post(f"{PAGE}approve/", {"digest": digest_of(action)})
    assert answer.status_code == 302
    assert answer["Location"] == PAGE
    assert status_of(cast) == "approved"


def test_what_nothing_is_connected_for_shows_approving_as_out_of_reach_and_the_way_to_connect(
    cast: Cast,
) -> None:
    with tenant(cast.account.id):
        action = proposed(cast, class_name="slack.send", payload={"channel": "#launch", "message": "Live"})
    page = text_of(browser_of(cast.approver).get(PAGE))
    buttons = re.findall(r"<button([^>]*)>(.*?)</button>", page, re.DOTALL)
    [approve] = [attributes for attributes, said in buttons if said.strip().endswith("Approve")]
    assert 'disabled aria-describedby="why-not"' in approve
    assert 'href="/a/acme/connections/"' in page.partition('id="why-not"')[2].partition("</p>")[0]
    with tenant(cast.account.id):
        connection = add_connection(cast.owner, "slack", Tokens("no-token"), Identity("T1", "Acme"))
        add_revision(
            system_actor(cast.account.id), action, {**action.current.payload, "channel": "C1"}, connection
        )
    page = text_of(browser_of(cast.approver).get(PAGE))
    assert 'id="why-not"' not in page
    assert "approve/" in page


@pytest.mark.parametrize("sent", [{}, {"digest": ""}, {"digest": "0" * 64}])
def test_without_the_digest_nothing_is_approved(cast: Cast, action: Action, sent: dict[str, str]) -> None:
    answer = browser_of(cast.approver).post(f"{PAGE}approve/", sent)
    assert answer.status_code in (409, 422)
    assert status_of(cast) == "pending"


def test_looking_at_an_address_decides_nothing(cast: Cast, action: Action) -> None:
    client = browser_of(cast.approver)
    for step in ("approve", "reject", "end"):
        assert client.get(f"{PAGE}{step}/").status_code == 405
    assert status_of(cast) == "pending"


def test_another_site_can_not_decide_for_a_person(cast: Cast, action: Action) -> None:
    client: Client = browser_of(cast.approver, enforce_csrf_checks=True)
    answer = client.post(f"{PAGE}approve/", {"digest": digest_of(action)})
    assert answer.status_code == 403
    assert "This form has gone stale" in text_of(answer)
    assert status_of(cast) == "pending"


@pytest.mark.parametrize("role", ["admin", "teammate", "viewer"])
def test_only_owners_and_approvers_decide(cast: Cast, action: Action, role: str) -> None:
    client = browser_of(getattr(cast, role))
    page = client.get(PAGE)
    assert "Deciding needs the role owner or approver in this space." in text_of(page)
    assert 'data-key="a"' not in text_of(page)
    for step in ("approve", "reject"):
        answer = client.post(f"{PAGE}{step}/", {"digest": digest_of(action)})
        assert answer.status_code == 403
    assert status_of(cast) == "pending"


def test_a_rejection_keeps_its_reason(cast: Cast, action: Action) -> None:
    client = browser_of(cast.approver)
    client.post(f"{PAGE}reject/", {"reason": "Not today <b>"})
    assert "Not today &lt;b&gt;" in text_of(client.get(PAGE))
    assert status_of(cast) == "rejected"


def test_what_is_approved_can_be_withdrawn_until_it_is_taken_up(cast: Cast, action: Action) -> None:
    client = browser_of(cast.approver)
    client.post(f"{PAGE}approve/", {"digest": digest_of(action)})
    assert "Take it back" in text_of(client.get(PAGE))
    client.post(f"{PAGE}end/", {"from": "approved", "to": "cancelled"})
    assert status_of(cast) == "cancelled"


def test_the_page_leaves_nothing_of_the_payload_out(cast: Cast) -> None:
    payload = {
        "to": ["ana@elsewhere.example", "bo@acme.example"],
        "text": "x" * 20_000 + "the end",
        "n": [1, {"deep": None}],
    }
    with tenant(cast.account.id):
        proposed(cast, payload=payload)
    shown = text_of(browser_of(cast.approver).get(PAGE))
    assert "x" * 20_000 + "the end" in shown
    for name in ("to[0]", "to[1]", "n[0]", "n[1].deep"):
        assert f"<dt>{name}</dt>" in shown
    assert "Outside your team: ana@elsewhere.example" in shown
    assert "Inside your team: bo@acme.example" in shown
    assert "The agent says (unverified)" in shown


def test_the_inbox_takes_as_many_queries_for_three_rows_as_for_one(
    cast: Cast, action: Action, django_assert_num_queries
) -> None:  # type: ignore[no-untyped-def]
    client = browser_of(cast.approver)
    client.get(f"{SPACE}/inbox/")
    counted = count_queries(client)
    with tenant(cast.account.id):
        proposed(cast)
        proposed(cast)
    with django_assert_num_queries(counted):
        assert text_of(client.get(f"{SPACE}/inbox/")).count("data-row=") == 3


def count_queries(client: Client) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        client.get(f"{SPACE}/inbox/")
    return len(captured)


def test_the_inbox_is_narrowed_by_class_and_by_who_proposed(cast: Cast, action: Action) -> None:
    with tenant(cast.account.id):
        proposed(cast, class_name="deploy.run")
    client = browser_of(cast.approver)
    narrowed = text_of(client.get(f"{SPACE}/inbox/?class=deploy.run"))
    assert 'data-row="A2"' in narrowed
    assert 'data-row="A1"' not in narrowed
    assert "Nothing matches" in text_of(client.get(f"{SPACE}/inbox/?agent=nobody"))


def test_the_pulse_tells_the_version_and_how_many_wait(cast: Cast, action: Action) -> None:
    told = browser_of(cast.approver).get(f"{SPACE}/inbox/pulse/").json()
    assert told == {"version": 1, "waiting": 1}
    assert browser_of(cast.viewer).get(f"{SPACE}/inbox/pulse/").json()["waiting"] == 0


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"z": 1, "to": "ana", "subject": "Hi"}, "mail.send to ana subject Hi z 1"),
        ({"to": ["a", "b"], "flag": True, "none": None}, "mail.send to a, b flag true"),
        ({}, "mail.send"),
        ({"text": "a\n b" + "c" * 90}, "mail.send text a b" + "c" * 56 + "…"),
    ],
)
def test_a_headline_says_what_tells_most_first(payload: dict[str, object], words: str) -> None:
    assert str(headline("mail.send", payload)) == words
