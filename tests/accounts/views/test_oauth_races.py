"""What comes twice at the same moment: one at most is answered, and then neither holds."""

import pytest

from accounts.domain.credentials import authenticate
from accounts.models import Grant
from memoryhub.common.errors import Unauthorized
from tests.calls import at_once
from tests.conftest import Cast
from tests.oauth import MCP, answer_to, bearer, browser_for, connect, returned, visitor

pytestmark = pytest.mark.django_db(transaction=True)

TOGETHER = 6


def holds(tokens: dict[str, str]) -> bool:
    try:
        authenticate(bearer(tokens), address="", resource=MCP)
    except Unauthorized:
        return False
    return True


def test_a_refresh_token_that_comes_many_times_at_once_ends_all(cast: Cast) -> None:
    client = visitor()
    tokens = connect(cast.teammate, cast.space.id, client)
    answers = [a.json() for a in at_once(TOGETHER, lambda n: client.refresh(tokens["refresh_token"]))]
    given = [a for a in answers if "access_token" in a]
    assert len(given) <= 1
    assert {a["error"] for a in answers if a not in given} == {"invalid_grant"}
    assert not any(holds(a) for a in [tokens, *given])
    assert Grant.objects.get().revoked_at is not None


def test_a_code_that_comes_many_times_at_once_ends_all(cast: Cast) -> None:
    client = visitor()
    code = returned(answer_to(browser_for(cast.teammate), client.question(), cast.space.id))["code"]
    answers = [a.json() for a in at_once(TOGETHER, lambda n: client.exchange(code))]
    given = [a for a in answers if "access_token" in a]
    assert len(given) <= 1
    assert {a["error"] for a in answers if a not in given} == {"invalid_grant"}
    assert not any(holds(a) for a in given)
    assert Grant.objects.get().revoked_at is not None
