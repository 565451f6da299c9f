"""What becomes of a call that holds a secret: cut, refused or held, by the space's policy."""

from random import Random

import pytest

from accounts.actor import Actor
from memoryhub.common.errors import SecretRejected
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.secrets.shapes import expand
from spaces.domain.spaces import Settings, create_space, update_space
from spaces.models import Memory, Space
from tests.calls import call, refused
from tests.conftest import Cast
from tests.wire import find

pytestmark = pytest.mark.usefixtures("inside")

RANDOM = Random(9)
KEY = expand("ghp_{crc:30}", RANDOM)
SAID = f"Ann uses {KEY} for the nightly deploys, and the night shift knows where it is kept."
CUT = SAID.replace(KEY, "[REDACTED:github_token]")
PEM = expand("-----BEGIN PRIVATE KEY-----\n{base64:64}\n{base64:64}\n-----END PRIVATE KEY-----", RANDOM)
PROPOSAL = {"class": "mail.send", "summary": "Send it", "idempotency_key": "k"}
TOLD = [{"category": "github_token", "count": 1}]


def policy(cast: Cast, name: str) -> None:
    update_space(cast.owner, Settings(secret_policy=name), space=cast.space.id)


def test_by_default_it_is_cut_and_the_answer_tells_what(cast: Cast) -> None:
    answer = call(cast.agent, "remember", text=SAID, tags=["deploy"])
    assert answer["memory"]["text"] == CUT
    assert answer["redactions"] == TOLD
    assert Memory.objects.get().redactions == TOLD


def test_an_edit_is_cut_like_a_new_memory(cast: Cast) -> None:
    id = call(cast.agent, "remember", text="The deploys run at night")["memory"]["id"]
    answer = call(cast.agent, "memory_update", id=id, text=SAID)
    assert answer["redactions"] == TOLD
    assert Memory.objects.get().text == CUT
    assert Memory.objects.get().redactions == TOLD


def test_a_space_that_rejects_stores_nothing_and_names_the_categories_only(cast: Cast) -> None:
    policy(cast, "reject")
    error = refused(cast.agent, "remember", text=SAID)
    assert error["code"] == "secret_rejected"
    assert error["details"] == {"categories": ["github_token"]}
    assert KEY not in str(error)
    assert not Memory.objects.exists()


def test_a_space_that_quarantines_keeps_it_cut_for_a_person_to_see(cast: Cast) -> None:
    policy(cast, "quarantine")
    answer = call(cast.agent, "remember", text=SAID)
    assert answer["warnings"] == ["held_for_review"]
    stored = Memory.objects.get()
    assert (stored.text, stored.status, stored.held_for) == (CUT, "quarantined", ["secrets"])
    assert refused(cast.agent, "memory_get", id=answer["memory"]["id"])["code"] == "not_found"


@pytest.mark.parametrize("name", ["redact", "quarantine"])
@pytest.mark.parametrize(
    "text", [f"the key of the host, for later: {PEM} and more words around it", KEY, f"key {KEY}"]
)
def test_a_private_key_and_little_but_a_secret_are_refused_by_any_policy(
    cast: Cast, name: str, text: str
) -> None:
    policy(cast, name)
    assert refused(cast.agent, "remember", text=text)["code"] == "secret_rejected"
    assert not Memory.objects.exists()


@pytest.mark.parametrize("payload", [{"to": "ann", "body": SAID}, {"a": [{"b": KEY}]}, {KEY: 1}])
def test_what_would_be_sent_out_is_refused_and_never_altered(cast: Cast, payload: dict[str, object]) -> None:
    error = refused(cast.agent, "action_propose", **PROPOSAL, payload=payload)
    assert error["details"] == {"categories": ["github_token"]}


def test_what_is_said_about_an_action_is_cut(cast: Cast) -> None:
    answer = call(cast.agent, "action_propose", **{**PROPOSAL, "summary": SAID}, payload={"to": "ann"})
    assert answer["action"]["summary"] == CUT
    assert answer["redactions"] == TOLD


def test_a_secret_never_says_what_is_to_be_deleted(cast: Cast) -> None:
    """Cut, it would stand for everything that was ever cut."""
    call(cast.agent, "remember", text=SAID)
    assert refused(cast.agent, "forget", query=KEY)["code"] == "secret_rejected"
    assert Memory.objects.exists()


def test_a_secret_is_no_name_of_a_value(cast: Cast) -> None:
    assert refused(cast.agent, "kv_set", ns="app", key=KEY, value="x" * 90)["code"] == "secret_rejected"


def test_a_value_under_the_name_of_a_secret_is_taken_for_one(cast: Cast) -> None:
    secret = expand("{base62:12}!", RANDOM)
    answer = call(cast.agent, "kv_set", ns="app", key="DB_PASSWORD", value=secret)
    assert answer["redactions"] == [{"category": "password", "count": 1}]
    assert call(cast.agent, "kv_get", ns="app", key="DB_PASSWORD")["value"] == "[REDACTED:password]"


def test_a_question_is_cut_and_answered(cast: Cast) -> None:
    policy(cast, "reject")
    assert call(cast.agent, "recall", q=KEY)["redactions"] == TOLD


def test_of_a_batch_only_the_items_that_are_refused_are_left_out(cast: Cast) -> None:
    items = [{"text": "Tea is at four"}, {"text": KEY}, {"text": SAID}, {"text": PEM}]
    answer = call(cast.agent, "memory_batch", items=items)
    assert [one.get("error", {}).get("code") for one in answer["items"]] == [
        None,
        "secret_rejected",
        None,
        "secret_rejected",
    ]
    assert (answer["created"], answer["refused"]) == (2, 2)
    assert answer["redactions"] == TOLD
    assert [one.get("redactions", []) for one in answer["items"]] == [[], [], TOLD, []]


def test_policies_are_those_of_the_space_that_is_written_to(cast: Cast) -> None:
    policy(cast, "reject")
    person: Actor = cast.owner
    assert refused(person.in_space(cast.space.slug), "remember", text=SAID)["code"] == "secret_rejected"


@pytest.fixture
def strict(cast: Cast) -> Space:
    """A space that rejects, beside the one that the calls go to, which redacts."""
    made = create_space(cast.owner, name="Strict", slug="strict")
    return update_space(cast.owner, Settings(secret_policy="reject"), space=made.id)


def test_a_row_is_written_by_the_policy_of_its_own_space(cast: Cast, strict: Space) -> None:
    there = cast.agent.in_space("strict")
    memory = call(there, "remember", text="The deploys run at night")["memory"]["id"]
    record = call(there, "record_put", collection="runs", key="a", data={"at": "night"})["record"]["id"]
    plan = call(there, "plan_create", title="Nights", content="The deploys run at night")["plan"]["id"]
    assert refused(cast.agent, "memory_update", id=memory, text=SAID)["code"] == "secret_rejected"
    assert refused(cast.agent, "record_update", id=record, data={"a": SAID})["code"] == "secret_rejected"
    assert refused(cast.agent, "plan_update", id=plan, content=SAID)["code"] == "secret_rejected"


def test_a_row_in_no_space_or_of_nobody_is_written_by_the_policy_of_the_call(
    cast: Cast, strict: Space
) -> None:
    for actor, code in ((cast.agent, "not_found"), (cast.agent.in_space("strict"), "secret_rejected")):
        assert refused(actor, "memory_update", id=typed_id("mem", new_id()), text=SAID)["code"] == code


def test_a_path_names_a_space_only_where_projects_are_spaces(cast: Cast, strict: Space) -> None:
    there = cast.agent.in_space("strict")
    answer = call(cast.agent, "remember", text=SAID, path="projects/strict/deploys")
    assert answer["redactions"] == TOLD
    assert refused(there, "remember", text=SAID, path="projects/main/deploys")["code"] == "secret_rejected"
    kept = find("paths.remember")
    assert kept(there, {"content": SAID, "path": "projects/main/deploys"})["redactions"] == TOLD
    for path in ("projects/strict/deploys", "Projects/Strict/deploys", " projects/strict/deploys"):
        with pytest.raises(SecretRejected):
            kept(cast.agent, {"content": SAID, "path": path})
