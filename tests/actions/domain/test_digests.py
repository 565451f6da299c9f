"""What the approver saw is what runs: bytes altered anywhere in the database stop it."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from actions.domain.actions import access_action
from actions.domain.digests import consent_content, consent_digest, is_intact, proposal_hash
from actions.domain.review import review_action
from actions.domain.transitions import approve_action
from actions.models import Action, ActionRevision, Approval
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import Conflict, HubError
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.operations.hub.actions import action_transition
from tests.actions.conftest import NOW
from tests.actions.stage import approve, digest_of, proposed
from tests.calls import as_owner
from tests.conftest import Cast

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(texts, values, max_size=4)


def unstored(payload: dict, **changes: Any) -> tuple[Action, ActionRevision]:
    space_id = new_id()
    action = Action(id=new_id(), space_id=space_id, number=7, class_name="chat.send", expires_at=NOW)
    revision = ActionRevision(
        number=1, payload_json=canonical_json(payload).decode(), preconditions_json="{}", expires_at=NOW
    )
    return action, revision


@given(payloads)
def test_the_digest_is_sha_256_over_the_canonical_json_of_the_whole_formula(payload: dict) -> None:
    action, revision = unstored(payload)
    formula = {
        "space": typed_id("spc", action.space_id),
        "action": typed_id("act", action.id),
        "revision": 1,
        "class": "chat.send",
        "class_version": 1,
        "executor": "agent",
        "connection": None,
        "connection_account": None,
        "payload": payload,
        "preconditions": {},
        "expires_at": "2026-03-02T09:00:00Z",
    }
    assert consent_content(action, revision) == canonical_json(formula)
    assert consent_digest(action, revision) == hashlib.sha256(canonical_json(formula)).hexdigest()


@given(payloads, st.data())
def test_no_changed_byte_of_the_stored_payload_keeps_the_digest(payload: dict, data: st.DataObject) -> None:
    action, revision = unstored(payload)
    before = consent_digest(action, revision)
    stored = revision.payload_json
    at = data.draw(st.integers(0, len(stored) - 1))
    revision.payload_json = (
        stored[:at] + data.draw(texts.filter(lambda t: t != stored[at])) + stored[at + 1 :]
    )
    assert consent_digest(action, revision) != before


@pytest.mark.parametrize(
    ("of", "field", "value"),
    [
        ("action", "id", new_id()),
        ("action", "space_id", new_id()),
        ("action", "class_name", "slack.sent"),
        ("action", "executor", "worker"),
        ("revision", "number", 2),
        ("revision", "schema_version", 2),
        ("revision", "preconditions_json", '{"ask":1}'),
        ("revision", "expires_at", NOW + timedelta(microseconds=1)),
    ],
)
def test_each_part_of_the_formula_changes_the_digest(of: str, field: str, value: object) -> None:
    action, revision = unstored({"a": 1})
    before = consent_digest(action, revision)
    setattr(action if of == "action" else revision, field, value)
    assert consent_digest(action, revision) != before


def test_the_agents_own_words_are_outside_the_digest() -> None:
    action, revision = unstored({"a": 1})
    before = consent_digest(action, revision)
    revision.summary, action.meta, action.agent = "other", {"x": 1}, "other"
    assert consent_digest(action, revision) == before


def test_text_moved_between_payload_and_preconditions_is_not_intact() -> None:
    """The hashed bytes are the same; what is stored is no JSON any more."""
    action, revision = unstored({"a": 1})
    revision.preconditions_json = '{"b":[{},2],"preconditions":{}}'
    action.revision, revision.digest = 1, consent_digest(action, revision)
    assert is_intact(action, revision)
    revision.payload_json = '{"a":1},"preconditions":{"b":[{},2]'
    revision.preconditions_json = "{}}"
    assert consent_digest(action, revision) == revision.digest
    assert not is_intact(action, revision)


@given(payloads)
def test_a_proposal_is_known_again_in_any_spelling(payload: dict) -> None:
    respelt = json.loads(json.dumps(dict(reversed(payload.items()))))
    assert proposal_hash("a", respelt) == proposal_hash("a", payload)
    assert proposal_hash("b", payload) != proposal_hash("a", payload)


REVISION = "update actions_actionrevision set {change} where action_id = '{id}'"
ACTION = "update actions_action set {change} where id = '{id}'"
APPROVAL = "update actions_approval set {change} where action_id = '{id}'"
LATER = "expires_at = expires_at + interval '1 day'"

TAMPERING = {
    "the payload": (REVISION, """payload_json = '{"channel":"#all"}'"""),
    "one byte of the payload": (REVISION, "payload_json = replace(payload_json, '.', '!')"),
    "white space in the payload": (REVISION, "payload_json = payload_json || ' '"),
    "the payload is no JSON": (REVISION, "payload_json = 'x'"),
    "the payload is a list": (REVISION, "payload_json = '[]'"),
    "the preconditions are a list": (REVISION, "preconditions_json = '[]'"),
    "the preconditions": (REVISION, """preconditions_json = '{"kv":{}}'"""),
    "the expiry": (REVISION, LATER),
    "the expiry of the action": (ACTION, LATER),
    "both expiries": (f"with a as ({ACTION}) {REVISION}", LATER),
    "the class": (ACTION, "class_name = 'mail.reply'"),
    "the version of the class": (REVISION, "schema_version = 2"),
    "the executor": (ACTION, "executor = 'worker'"),
    "the revision's digest": (REVISION, "digest = repeat('0', 64)"),
    "payload and digest": (REVISION, "payload_json = '{}', digest = encode(sha256('{}'), 'hex')"),
}
AFTER_APPROVAL = TAMPERING | {
    "the approval's digest": (APPROVAL, "digest = repeat('0', 64)"),
    "the approval is gone": ("delete from actions_approval where action_id = '{id}'", ""),
    "the approval was voided": (APPROVAL, "voided_at = decided_at"),
    "the approval was a rejection": (APPROVAL, "decision = 'reject'"),
    "the approval was of another revision": (APPROVAL, "revision = 2"),
}


def tamper(action: Action, how: tuple[str, str]) -> None:
    assert as_owner(how[0].replace("{change}", how[1]).replace("{id}", str(action.id))) == 1


def refusal_of(act: Callable[[], Any]) -> str:
    try:
        act()
    except HubError as refusal:
        return refusal.code
    return "done"


@pytest.mark.django_db(transaction=True)
class TestTampering:
    @pytest.fixture(autouse=True)
    def _standing_still(self, clock: Any) -> None:
        pass

    def propose(self, cast: Cast) -> Action:
        with tenant(cast.account.id):
            return proposed(cast)

    def test_what_was_altered_after_its_approval_is_not_claimed_and_fails_for_good(self, cast: Cast) -> None:
        found = {}
        for level, how in AFTER_APPROVAL.items():
            action = self.propose(cast)
            with tenant(cast.account.id):
                approve(cast.owner, action)
            tamper(action, how)
            claim = {"id": action.uid, "from": "approved", "to": "executing"}
            code = refusal_of(lambda claim=claim: action_transition(cast.agent, claim))
            with tenant(cast.account.id):
                left = Action.objects.get(id=action.id)
            found[level] = (code, left.status, left.claimed_by, "not what was approved" in left.reason)
        assert found.pop("the executor") == ("forbidden", "approved", "", False)  # the worker's, by now
        assert found == dict.fromkeys(
            AFTER_APPROVAL.keys() - {"the executor"}, ("conflict", "failed", "", True)
        )

    def test_what_was_altered_before_its_approval_can_not_be_approved_at_all(self, cast: Cast) -> None:
        """Neither as it was shown, nor as it is shown now."""
        found = {}
        for level, how in TAMPERING.items():
            action = self.propose(cast)
            tamper(action, how)
            with tenant(cast.account.id):
                now = review_action(cast.owner, action.uid)
                shown = [digest_of(action), now.digest]
                found[level] = (
                    now.intact,
                    *(
                        refusal_of(lambda d=d, id=action.uid: approve_action(cast.owner, id, digest=d))
                        for d in shown
                    ),
                )
        assert found == dict.fromkeys(TAMPERING, (False, "conflict", "conflict"))

    def test_a_new_revision_after_the_page_was_read_is_a_conflict_that_says_what_changed(
        self, cast: Cast
    ) -> None:
        action = self.propose(cast)
        with tenant(cast.account.id):
            shown = review_action(cast.owner, action.uid).digest
            changed = action.current
            changed.id, changed.number, changed.payload_json = new_id(), 2, '{"channel":"#all"}'
            changed.digest = consent_digest(action, changed)
            changed.save(force_insert=True)
            Action.objects.update(revision=2)
            with pytest.raises(Conflict) as refusal:
                approve_action(cast.owner, action.uid, digest=shown)
            assert refusal.value.details["current"]["changed"] == ["revision", "payload"]
            assert approve(cast.owner, access_action(cast.owner, action.uid)).status == "approved"
            assert [a.revision for a in Approval.objects.all()] == [2]

    def test_the_applications_own_login_may_not_alter_what_is_consented_to(self, cast: Cast) -> None:
        action = self.propose(cast)
        with tenant(cast.account.id):
            approve(cast.owner, action)
        for template, column in (
            (REVISION, "payload_json"),
            (REVISION, "digest"),
            (ACTION, "class_name"),
            (ACTION, "proposer"),
            (ACTION, "number"),
            (APPROVAL, "digest"),
            (APPROVAL, "decision"),
        ):
            sql = template.replace("{change}", f"{column} = {column}").replace("{id}", str(action.id))
            with pytest.raises(ProgrammingError, match="permission denied"), tenant(cast.account.id):
                with connection.cursor() as cursor:
                    cursor.execute(sql)

    def test_other_refusals_leave_nothing_behind(self, cast: Cast) -> None:
        action = self.propose(cast)
        with pytest.raises(HubError):
            action_transition(cast.agent, {"id": action.uid, "from": "approved", "to": "executing"})
        with transaction.atomic(), tenant(cast.account.id):
            assert Action.objects.get().status == "pending"
