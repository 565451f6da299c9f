"""Proposals of the classes that have a connector."""

import json
from zoneinfo import ZoneInfo

import pytest

from actions.connectors import CONNECTORS
from actions.models import Action
from memoryhub.common.errors import ValidationFailed
from spaces.models import Space
from tests.actions.stage import propose
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "inside")]

SIMPLEST = {
    "slack.send": {"channel": "general", "message": "a < b"},
    "gmail.reply": {"thread_id": "18A", "body": "Yes."},
    "calendar.create": {"title": "T", "start": "2026-05-27T18:00", "end": "2026-05-27T19:00"},
    "github.create_issue": {"repo": "octo/hello", "title": "T", "body": None},
    "notion.create_page": {"parent_id": "b" * 32, "title": "T", "content": "Hello"},
}


@pytest.mark.parametrize("name", CONNECTORS)
def test_a_payload_is_stored_in_the_form_of_its_class(cast: Cast, name: str) -> None:
    Space.objects.update(time_zone="Asia/Jerusalem")
    revision = propose(cast.agent, class_name=name, payload=SIMPLEST[name]).action.current
    connector = CONNECTORS[name]
    assert revision.payload == connector.normalise(SIMPLEST[name], ZoneInfo("Asia/Jerusalem"))
    assert json.loads(revision.payload_json) == revision.payload
    assert revision.schema_version == connector.version


@pytest.mark.parametrize("name", CONNECTORS)
def test_a_payload_that_is_not_of_its_class_is_refused_and_nothing_is_made(cast: Cast, name: str) -> None:
    with pytest.raises(ValidationFailed):
        propose(cast.agent, class_name=name, payload={"n": 1})
    assert Action.objects.count() == 0


def test_the_same_proposal_is_known_by_what_was_given(cast: Cast) -> None:
    payload = SIMPLEST["calendar.create"]
    first = propose(cast.agent, class_name="calendar.create", payload=payload, idempotency_key="K")
    Space.objects.update(time_zone="Asia/Tokyo")
    again = propose(cast.agent, class_name="calendar.create", payload=payload, idempotency_key="K")
    assert (again.created, again.action.id) == (False, first.action.id)
