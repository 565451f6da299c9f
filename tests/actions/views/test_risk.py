import time

import pytest

from actions.domain.actions import access_action
from memoryhub.common.tenancy import tenant
from tests.actions.stage import digest_of, proposed
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, freshly_signed_in, text_of

PAGE = f"{SPACE}/actions/A1/"
OUTSIDE = {"to": "ana@elsewhere.example", "text": "Hi"}
INSIDE = {"to": "owner@acme.example", "text": "Hi"}


def status_of(cast: Cast) -> str:
    with tenant(cast.account.id):
        return access_action(cast.owner, "A1").status


def digest_after(cast: Cast, payload: dict[str, str]) -> str:
    with tenant(cast.account.id):
        return digest_of(proposed(cast, payload=payload))


@pytest.mark.parametrize(
    ("payload", "risk"), [(OUTSIDE, "outside your team"), (INSIDE, "for the first time")]
)
def test_who_signed_in_long_ago_is_asked_for_the_password_before_a_risky_approval(
    cast: Cast, payload: dict[str, str], risk: str
) -> None:
    digest, client = digest_after(cast, payload), browser_of(cast.approver)
    assert risk in text_of(client.get(PAGE))
    answer = client.post(f"{PAGE}approve/", {"digest": digest})
    assert answer["Location"].startswith(
        "/accounts/reauthenticate/?next=%2Fa%2Facme%2Fmain%2Factions%2FA1%2F"
    )
    beside = client.post(f"{PAGE}approve/", {"digest": digest}, headers={"HX-Request": "true"})
    assert beside["HX-Redirect"] == answer["Location"]
    assert status_of(cast) == "pending"


def test_who_has_just_signed_in_approves_it_at_once(cast: Cast) -> None:
    digest = digest_after(cast, OUTSIDE)
    freshly_signed_in(cast.approver, time.time()).post(f"{PAGE}approve/", {"digest": digest})
    assert status_of(cast) == "approved"


def test_rejecting_needs_no_password(cast: Cast) -> None:
    digest_after(cast, OUTSIDE)
    browser_of(cast.approver).post(f"{PAGE}reject/", {})
    assert status_of(cast) == "rejected"


def test_who_may_not_decide_is_told_so_and_not_asked(cast: Cast) -> None:
    digest = digest_after(cast, OUTSIDE)
    assert browser_of(cast.teammate).post(f"{PAGE}approve/", {"digest": digest}).status_code == 403


def test_whom_the_team_has_written_to_before_is_no_risk(cast: Cast) -> None:
    first = digest_after(cast, INSIDE)
    freshly_signed_in(cast.approver, time.time()).post(f"{PAGE}approve/", {"digest": first})
    second = digest_after(cast, {**INSIDE, "text": "Again"})
    again = f"{SPACE}/actions/A2/"
    assert "High risk" not in text_of(browser_of(cast.approver).get(again))
    browser_of(cast.approver).post(f"{again}approve/", {"digest": second})
    with tenant(cast.account.id):
        assert access_action(cast.owner, "A2").status == "approved"
