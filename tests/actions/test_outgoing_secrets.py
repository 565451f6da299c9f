"""A secret in what would be sent outside: refused on every road, and never altered."""

import json
import time
from random import Random
from typing import Any

import pytest

from actions.domain.editing import edit_action
from actions.domain.policies.rules import Draft, create_policy
from actions.models import Action, ActionRevision, Policy
from memoryhub.common.errors import SecretRejected
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from spaces.domain.kinds import all_kinds
from spaces.models.dreams import OPS
from tests.actions.stage import digest_of, propose, proposed
from tests.calls import refused
from tests.conftest import Cast
from tests.memoryhub.operations.zerodb.conftest import ask
from tests.memoryhub.operations.zerodb.test_memories import refusal
from tests.memoryhub.operations.zerodb.test_write_back import SENT
from tests.pages import SPACE, browser_of, freshly_signed_in, text_of

pytestmark = pytest.mark.django_db

RANDOM = Random(5)
KEY = expand("ghp_{crc:30}", RANDOM)
PASSWORD = expand("{base62:14}!", RANDOM)
PAYLOADS: dict[str, dict[str, Any]] = {
    "in a text": {"text": f"Use {KEY} for it"},
    "deep inside": {"a": [{"b": {"c": f"key {KEY}"}}]},
    "as a name": {KEY: "x"},
    "under the name of one": {"config": {"DB_PASSWORD": PASSWORD}},
    "beside much else": {"text": "word " * 900 + KEY},
}
EVERY = pytest.mark.parametrize("where", PAYLOADS)
TEXTS = {
    "slack_send": "message", "gmail_reply": "body", "calendar_create": "title", "github_create_issue": "body",
    "notion_create_page": "content",
}  # fmt: skip


def stored(cast: Cast) -> list[str]:
    with tenant(cast.account.id):
        return list(ActionRevision.objects.order_by("id").values_list("payload_json", flat=True))


@EVERY
def test_a_proposal_is_refused_by_the_operation_and_by_the_domain(cast: Cast, where: str) -> None:
    fields = {"class": "mail.send", "summary": "Send it", "idempotency_key": "k", "payload": PAYLOADS[where]}
    assert refused(cast.agent, "action_propose", **fields)["code"] == "secret_rejected"
    with tenant(cast.account.id), pytest.raises(SecretRejected):
        propose(cast.agent, payload=PAYLOADS[where])
    assert stored(cast) == []


@EVERY
def test_preconditions_are_refused_by_the_operation_and_by_the_domain(cast: Cast, where: str) -> None:
    fields = {"class": "mail.send", "summary": "Send it", "idempotency_key": "k", "payload": {"text": "x"}}
    held = PAYLOADS[where]
    assert refused(cast.agent, "action_propose", **fields, preconditions=held)["code"] == "secret_rejected"
    with tenant(cast.account.id), pytest.raises(SecretRejected):
        propose(cast.agent, preconditions=held)
    assert stored(cast) == []


@EVERY
def test_the_conditions_of_a_rule_are_refused_by_the_page_and_by_the_domain(cast: Cast, where: str) -> None:
    conditions = {"payload": PAYLOADS[where]}
    sent = {"name": "R", "effect": "deny", "class_name": "pay.out", "approvals": "1", "step": "start"}
    row = {"what": "payload", "member": "member", "value": json.dumps(PAYLOADS[where])}
    browser = freshly_signed_in(cast.owner, time.time())
    answer = browser.post(f"{SPACE}/policies/new/", {**sent, **row})
    assert answer.status_code == 422
    assert "must hold no secret" in text_of(answer)
    with tenant(cast.account.id):
        with pytest.raises(SecretRejected):
            create_policy(cast.owner.in_space("main"), Draft("R", "deny", "pay.out", conditions))
        assert not Policy.objects.exists()


def test_no_other_road_leads_to_a_proposal(cast: Cast) -> None:
    """What an export holds of actions arrives nowhere, and nothing a dream may do proposes."""
    assert next(kind for kind in all_kinds() if kind.prefix == "act").arrive is None
    assert set(OPS) == {"merge", "update", "retier", "expire", "drop", "add"}


@EVERY
def test_an_edit_is_refused_by_the_page_and_by_the_domain(cast: Cast, where: str) -> None:
    with tenant(cast.account.id):
        action = proposed(cast)
    before = stored(cast)
    sent = {"payload": json.dumps(PAYLOADS[where]), "digest": digest_of(action)}
    answer = browser_of(cast.approver).post(f"{SPACE}/actions/{action.short_id}/edit/", sent)
    assert answer.status_code == 422
    assert "[REDACTED" not in text_of(answer)
    with tenant(cast.account.id), pytest.raises(SecretRejected):
        edit_action(cast.approver, action.uid, payload=PAYLOADS[where], digest=digest_of(action))
    assert stored(cast) == before


@pytest.mark.parametrize("name", SENT)
def test_a_write_back_is_refused(cast: Cast, name: str) -> None:
    sent = {**SENT[name], TEXTS[name]: f"It is {KEY}, keep it"}
    assert refusal(lambda: ask(cast.agent, f"zerodb_{name}", **sent))["code"] == "secret_rejected"
    with tenant(cast.account.id):
        assert not Action.objects.exists()
