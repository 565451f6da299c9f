"""What the caller of each operation needs, and a call that is allowed to one who has it.

`{memory}` and the like are ids of ours; an id is always one that only our team has.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.scopes import ROLE_RIGHTS, Right, Scope
from tests.matrix.world import DAY, OURS, Knocker

ALLOWED, FORBIDDEN, ABSENT, UNAUTHORIZED = "allowed", "forbidden", "absent", "unauthorized"


@dataclass(frozen=True)
class Needs:
    """`scopes` are all needed, or with ` or ` those of one side. `right` is what the role has to allow in the space,
    None where none is asked. `also` is a scope that this very call needs besides; without the scope `covered_by`
    what it names is absent."""

    scopes: str
    right: Right | None
    call: dict[str, Any]
    also: str = ""
    covered_by: str = ""

    @property
    def ways(self) -> list[str]:
        return self.scopes.split(" or ")

    def lacking(self, held: frozenset[Scope]) -> bool:
        opened = any(held.issuperset(way.split()) for way in self.ways)
        return not opened or bool(self.also and self.also not in held)

    @property
    def names_an_id(self) -> bool:
        return filled(self.call, defaultdict(str)) != self.call


def needs(scopes: str, right: Right | None, /, *, also: str = "", covered_by: str = "", **call: Any) -> Needs:
    return Needs(scopes, right, call, also, covered_by)


READ, WRITE, MANAGE = Right.READ, Right.WRITE, Right.MANAGE
ANY_ITEM = "memory:read or plans:read or space:read or mcp:read decisions:read"
EITHER = "actions:propose or actions:execute"
PROPOSAL = {"class": "mail.send", "summary": "Send it", "payload": {"to": "ann"}, "idempotency_key": "new"}
LEAD = {"collection": "leads", "id": "{record}"}
TONE = {"ns": "prefs", "key": "tone"}
DECISIONS_READ, DECISIONS_WRITE = "mcp:read decisions:read", "mcp:write decisions:write"
IN_SPACE = {"space_id": "{space}"}
TRANSACTION = {"type": "expense", "item": "Tea", "amount": "4.20", "currency": "CHF"}
CLAIM = {"id": "{approved}", "from": "approved", "to": "executing"}

OPERATIONS: dict[str, Needs] = {
    "whoami": needs("", None),
    "get_context": needs("memory:read space:read", READ, kv="prefs"),
    # memories
    "remember": needs("memory:write", WRITE, text="Tea is at four"),
    "recall": needs("memory:read", READ, q=OURS),
    "memory_batch": needs("memory:write", WRITE, items=[{"text": "Tea is at four"}]),
    "memory_get": needs("memory:read", READ, id="{memory}"),
    "memory_update": needs("memory:write", WRITE, id="{memory}", subject="flowers"),
    "memory_delete": needs("memory:delete", WRITE, id="{memory}"),
    "memory_versions": needs("memory:read", READ, id="{memory}"),
    "forget": needs("memory:delete", WRITE, ids=["{memory}"]),
    # journal
    "journal_write": needs("space:write", WRITE, date=DAY, summary="Quiet"),
    "journal_list": needs("space:read", READ),
    "journal_get": needs("space:read", READ, date=DAY),
    "journal_versions": needs("space:read", READ, date=DAY),
    # records
    "collection_list": needs("space:read", READ),
    "record_put": needs("space:write", WRITE, collection="leads", data={"name": "Ann"}),
    "record_query": needs("space:read", READ, collection="leads"),
    "record_get": needs("space:read", READ, **LEAD),
    "record_update": needs("space:write", WRITE, **LEAD, status="done"),
    "record_delete": needs("space:write", WRITE, **LEAD),
    "record_versions": needs("space:read", READ, **LEAD),
    # values
    "kv_get": needs("space:read", READ, **TONE),
    "kv_set": needs("space:write", WRITE, **TONE, value="kind"),
    "kv_list": needs("space:read", READ, ns="prefs"),
    "kv_delete": needs("space:write", WRITE, **TONE),
    # plans
    "plan_list": needs("plans:read", READ),
    "plan_create": needs("plans:write", WRITE, title="Tea", content="At four"),
    "plan_get": needs("plans:read", READ, id="{plan}"),
    "plan_update": needs("plans:write", WRITE, id="{plan}", title="Tea"),
    "plan_delete": needs("plans:write", WRITE, id="{plan}"),
    "plan_versions": needs("plans:read", READ, id="{plan}"),
    "plan_version": needs("plans:read", READ, id="{plan}", version=1),
    "plan_restore": needs("plans:write", WRITE, id="{plan}", version=1),
    # zerodb
    "zerodb_store_memory": needs("memory:write", WRITE, content="Tea is at four"),
    "zerodb_search_memory": needs("memory:read", READ, query=OURS),
    "zerodb_semantic_search": needs("memory:read", READ, query=OURS),
    "zerodb_get_context": needs("memory:read", READ),
    "zerodb_embed_text": needs("memory:read", None, text="Tea"),
    "zerodb_clear_session": needs("memory:delete", WRITE, session_id="s"),
    "zerodb_plan_create": needs("plans:write", WRITE, title="Tea", content="At four"),
    "zerodb_plan_get": needs("plans:read", READ, artifact_id="{plan}"),
    "zerodb_plan_update": needs("plans:write", WRITE, artifact_id="{plan}", content="At five"),
    "zerodb_plan_history": needs("plans:read", READ, artifact_id="{plan}"),
    "zerodb_configure_auto_context": needs("memory:write", None, enabled=False),
    "zerodb_get_auto_context_config": needs("memory:read", None),
    "zerodb_synthesize_context": needs("memory:read", READ, query=OURS),
    "auto_context_for_message": needs("memory:read", READ, message=OURS),
    "zerodb_slack_send": needs("actions:propose", WRITE, channel="#tea", message="At four"),
    "zerodb_gmail_reply": needs("actions:propose", WRITE, thread_id="18c2f3a4b5d6e7f8", body="At four"),
    "zerodb_calendar_create": needs(
        "actions:propose", WRITE, title="Tea", start="2026-12-24T16:00:00Z", end="2026-12-24T17:00:00Z"
    ),
    "zerodb_github_create_issue": needs("actions:propose", WRITE, repo="acme/tea", title="Too cold"),
    "zerodb_notion_create_page": needs("actions:propose", WRITE, parent_id="f" * 32, title="Tea"),
    # connector
    "search": needs(ANY_ITEM, READ, query=OURS),
    "fetch": needs(ANY_ITEM, READ, covered_by="plans:read", id="{plan}"),
    # actions: no credential of an agent decides on one
    "action_propose": needs("actions:propose", WRITE, **PROPOSAL),
    "action_list": needs(EITHER, READ),
    "action_get": needs(EITHER, READ, id="{action}"),
    "action_transition": needs(EITHER, WRITE, also="actions:execute", **CLAIM),
    # decisions: each names the space
    "memory_list_records": needs(DECISIONS_READ, READ, **IN_SPACE),
    "memory_search_records": needs(DECISIONS_READ, READ, **IN_SPACE, query=OURS),
    "memory_record_summary": needs(
        DECISIONS_WRITE, WRITE, **IN_SPACE, items=[{"kind": "done", "text": "Tea", "supersedes": "{memory}"}]
    ),
    "memory_list_summaries": needs(DECISIONS_READ, READ, **IN_SPACE),
    "decisions_list_spaces": needs(DECISIONS_READ, None),
    "summary_get": needs(DECISIONS_READ, READ, id="{summary}"),
    "summary_delete": needs(f"{DECISIONS_WRITE} memory:delete", WRITE, id="{summary}"),
    # paths
    "paths.remember": needs("memory:write", WRITE, content="Tea is at four", path="notes/tea"),
    "paths.recall": needs("memory:read", READ, query=OURS),
    "capture": needs("memory:write", WRITE, events=[{"role": "user", "text": "Remember: tea is at four"}]),
    "capture_list": needs("memory:read", READ),
    "ledger": needs("ledger:read or ledger:write", READ, also="ledger:read", action="list"),
    "ledger_add": needs("ledger:write", WRITE, **TRANSACTION),
    "ledger_list": needs("ledger:read", READ),
    "ledger_summary": needs("ledger:read", READ),
    "ledger_get": needs("ledger:read", READ, id="{transaction}"),
    "ledger_void": needs("ledger:write", WRITE, id="{transaction}"),
    "reminder_set": needs("ledger:write", WRITE, content="Tea", due_at=DAY),
    "reminder_list": needs("ledger:read", READ),
    "reminder_complete": needs("ledger:write", WRITE, id="{reminder}"),
    "search_memory": needs("memory:read", READ, query=OURS),
    "recall_context": needs("memory:read", READ, query=OURS),
    # dreams
    "dream_next_job": needs("dream:run", WRITE),
    "dream_submit": needs("dream:run", WRITE, run_id="{job}", result={"changes": []}),
    "dream_runs": needs("dream:run", READ),
    "dream_run": needs("dream:run", READ, id="{run}"),
    "dream_undo": needs("dream:run", WRITE, id="{run}"),
    # the space
    "event_list": needs("events:read", READ),
    "space_get": needs("space:read", READ),
    "space_update": needs("space:admin", MANAGE, description="Ours"),
}


def expected(knocker: Knocker, name: str) -> str:
    declared = OPERATIONS[name]
    if knocker.refused:
        return UNAUTHORIZED
    if declared.lacking(knocker.scopes):
        return FORBIDDEN
    if declared.right is None:
        return ALLOWED
    if declared.covered_by and declared.covered_by not in knocker.scopes:
        return ABSENT
    if knocker.elsewhere or (knocker.outsider and declared.names_an_id):
        return ABSENT
    return ALLOWED if declared.right in ROLE_RIGHTS[knocker.role] else FORBIDDEN


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: filled(item, ids) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, ids) for item in value]
    return value.format_map(ids) if isinstance(value, str) else value
