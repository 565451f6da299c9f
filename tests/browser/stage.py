"""A team whose every text is hostile, and the addresses of every page there is."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from accounts.actor import Attribution, system_actor
from accounts.domain.invitations import invite
from accounts.models import Account, AgentKey, Application, Grant, Job, User
from accounts.scopes import Role, Scope
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection
from actions.domain.notices.telling import EVENTS
from actions.domain.notices.webhooks import Wish, create_webhook
from actions.domain.policies.rules import Draft, change_policy, create_policy
from actions.domain.transitions import transition_action
from actions.models import Action, Attempt, Delivery, Policy, Webhook
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain import ledger, plans
from spaces.domain.capture import Said as CaptureSaid
from spaces.domain.capture import capture
from spaces.domain.dreams.images import image_of
from spaces.domain.journal import Log, write_journal
from spaces.domain.memories import edit_memory, release_memory, remember
from spaces.domain.memories.fields import Statement
from spaces.domain.records import Changes, put_record, update_record
from spaces.domain.spaces import Settings, update_space
from spaces.domain.summaries import Item, record_summary
from spaces.domain.summaries import Said as Summed
from spaces.domain.values import set_value
from spaces.models import DreamChange, DreamRun, Memory, Plan, Record, Space, Transfer
from spaces.models.dreams import OPS
from tests.actions.stage import approve, propose
from tests.conftest import Cast

HOSTILE = (
    "<img src=x onerror=window.pwned=1><svg/onload=window.pwned=1></script><script>window.pwned=1</script>"
    "\"'><b id=pwned>[go](javascript:window.pwned=1) [x](data:text/html,x) {{7*7}} {% now %}"
    " ![x](https://evil.example/?leak) \u202egnp.exe\u202c\u200b"
)
QUESTION = (
    "/oauth/authorize?client_id=hostile&response_type=code&redirect_uri=https://client.example/back"
    f"&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&scope={'%20'.join(Scope)}"
)
SHORT = "<img src=x onerror=window.pwned=1>\u202e{{7*7}}"


@dataclass(frozen=True)
class Hostile:
    """Where everything stands. `pages` are the addresses for a signed-in owner, `doors` for someone who is not."""

    pages: dict[str, str]
    doors: dict[str, str]


def make_client(cast: Cast) -> None:
    """One that calls itself something, and was let in."""
    client = Application.objects.create(
        client_id="hostile",
        name=SHORT,
        client_type="public",
        authorization_grant_type="authorization-code",
        redirect_uris="https://client.example/back",
    )
    now = timezone.now()
    Grant.objects.create(
        account_id=cast.account.id, user_id=cast.teammate.user_id, application=client, name=SHORT,
        host="a-very-long-name-of-a-host.of-a-client.example", scopes=sorted(Scope), resources=[],
        default_space_id=cast.space.id, code_hash="x", connected_at=now, last_used_at=now, last_used_client=SHORT,
    )  # fmt: skip


def make_hostile(cast: Cast) -> Hostile:
    with tenant(cast.account.id):
        Account.objects.filter(id=cast.account.id).update(name=SHORT)
        Space.objects.filter(account_id=cast.account.id, id=cast.space.id).update(name=SHORT)
        User.objects.filter(id=cast.owner.user_id).update(name=SHORT, is_staff=True, is_superuser=True)
        User.objects.filter(id=cast.teammate.user_id).update(name=SHORT)
        User.objects.filter(id=cast.approver.user_id).update(name=SHORT)
        invite(
            system_actor(cast.account.id), Role.VIEWER, email="a-very-long-address-of-somebody@acme.example"
        )
        AgentKey.objects.filter(account_id=cast.account.id).update(
            name=SHORT, last_used_client=SHORT, last_used_at=timezone.now()
        )
        make_client(cast)
        agent = replace(
            cast.agent, name=SHORT, attribution=Attribution(agent=SHORT, session=SHORT, device_label=SHORT)
        )
        actions = make_actions(cast, agent)
        sent = make_sent(cast, agent)
        rule = make_rule(cast)
        hook, bare = make_webhooks(cast)
        memory = make_memories(cast, agent)
        record = make_records(agent)
        plan = make_plan(agent)
        make_families(cast, agent)
        make_rest(agent)
        run, waiting = make_dreams(cast, memory)
        make_transfers(cast)
        key = AgentKey.objects.filter(account_id=cast.account.id).latest("created_at")
        token = invite(system_actor(cast.account.id), Role.OWNER).token
    home, space = "/a/acme", "/a/acme/main"
    today = timezone.now().date().isoformat()
    someone = cast.teammate.user_id
    mem, rec, pln = typed_id("mem", memory.id), typed_id("rec", record.id), typed_id("pln", plan.id)
    pages = {
        "inbox": f"{space}/inbox/",
        "inbox beside": f"{space}/inbox/?open={actions[0].short_id}",
        "inbox done": f"{space}/inbox/?tab=done",
        "inbox empty": f"{space}/inbox/?tab=waiting",
        "action": f"{space}/actions/{actions[0].short_id}/",
        "action done": f"{space}/actions/{actions[1].short_id}/",
        "inbox together": f"{space}/inbox/together/?class=chat.send",
        "inbox of a class": f"{space}/inbox/?class=chat.send",
        "inbox snoozed": f"{space}/inbox/?tab=snoozed",
        "action edit": f"{space}/actions/{actions[0].short_id}/edit/",
        "action approved": f"{space}/actions/{sent[0].short_id}/",
        "action in doubt": f"{space}/actions/{sent[1].short_id}/",
        "connections": f"{home}/connections/",
        "connection new": f"{home}/connections/new/slack/",
        "connection by signing in": f"{home}/connections/new/google/",
        "connection failed": "/connections/callback/google/?state=unknown",
        "notifications": f"{home}/notifications/",
        "webhook": f"{home}/webhooks/{hook.uid}/",
        "webhook off": f"{home}/webhooks/{bare.uid}/",
        "webhook change": f"{home}/webhooks/{hook.uid}/change/",
        "webhook new": f"{home}/webhooks/new/",
        "policies": f"{space}/policies/",
        "policy": f"{space}/policies/{rule.uid}/",
        "policy new": f"{space}/policies/new/?like={actions[0].short_id}",
        "memories": f"{space}/memories/",
        "memories found": f"{space}/memories/?q=onerror+img",
        "memories none": f"{space}/memories/?q=zzzz",
        "memories narrowed": f"{space}/memories/?kind=note",
        "memory": f"{space}/memories/{mem}/",
        "memory new": f"{space}/memories/new/",
        "forget": f"{space}/forget/?query=onerror&scopes=memories&scopes=records&scopes=journal",
        "data": f"{space}/data/",
        "erase": f"{space}/erase/",
        "erase person": f"{home}/members/{someone}/erase/",
        "journal": f"{space}/journal/",
        "journal entry": f"{space}/journal/day/{today}/",
        "journal new": f"{space}/journal/new/",
        "records": f"{space}/records/",
        "collection": f"{space}/records/in/tasks/?status=all*",
        "record": f"{space}/records/in/tasks/{rec}/",
        "record new": f"{space}/records/new/",
        "plans": f"{space}/plans/",
        "plans none": f"{space}/plans/?status=completed",
        "plan": f"{space}/plans/{pln}/",
        "plan before": f"{space}/plans/{pln}/?version=1",
        "plan compared": f"{space}/plans/{pln}/?from=1&to=2",
        "plan new": f"{space}/plans/new/",
        "dreams": f"{space}/dreams/",
        "dream": f"{space}/dreams/{run}/",
        "dream undo": f"{space}/dreams/{run}/?undo=preview",
        "dream waiting": f"{space}/dreams/{waiting}/",
        "sessions": f"{space}/sessions/",
        "sessions narrowed": f"{space}/sessions/?agent=nobody",
        "ledger": f"{space}/ledger/?voided=1",
        "ledger empty": f"{space}/ledger/?month=2020-01",
        "ledger new": f"{space}/ledger/new/",
        "ledger remind": f"{space}/ledger/remind/",
        "capture": f"{space}/capture/",
        "values": f"{space}/values/",
        "namespace": f"{space}/values/in/flags/",
        "value": f"{space}/values/in/flags/value/?key=%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D1%3E",
        "value new": f"{space}/values/new/",
        "team": f"{home}/settings/",
        "space new": f"{home}/spaces/new/",
        "settings": f"{space}/settings/",
        "profile": "/profile/",
        "members": f"{home}/members/",
        "member": f"{home}/members/person/{typed_id('usr', cast.approver.user_id)}/?space=main&right=decide",
        "audit": f"{home}/audit/",
        "audit none": f"{home}/audit/?object=nothing",
        "keys": f"{home}/keys/",
        "consent": QUESTION,
        "consent refused": QUESTION.replace("hostile", "unknown"),
        "consent amiss": f"{QUESTION}&resource=https://evil.example/mcp",
        "key new": f"{home}/keys/new/",
        "connect": f"{home}/connect/",
        "key change": f"{home}/keys/{typed_id('key', key.id)}/change/",
        "two-step": "/accounts/2fa/",
        "app": "/accounts/2fa/totp/activate/",
        "passkey": "/accounts/2fa/webauthn/add/",
        "sign-ins": "/accounts/sessions/",
        "acting": "/acting/",
        "password": "/accounts/password/change/",
        "address": "/accounts/email/",
        "not found": f"{space}/memories/mem_{'0' * 32}/",
    }
    doors = {
        "sign-in": "/accounts/login/",
        "reset": "/accounts/password/reset/",
        "welcome": f"/welcome/{token}/",
        "used link": "/welcome/nothing/",
    }
    return Hostile(pages, doors)


def make_actions(cast: Cast, agent: Any) -> list[Action]:
    payload = {SHORT: HOSTILE, "to": ["ana@evil.example"], "nested": {"list": [HOSTILE, 1, None, {SHORT: True}]},
               "when": "2026-12-24T18:00:00", "link": "https://user@evil.example/\u0430pple"}  # fmt: skip
    meta = {SHORT: HOSTILE}
    pending = propose(
        agent, summary=HOSTILE, payload=payload, meta=meta, preconditions={"rule": HOSTILE}
    ).action
    done = propose(agent, summary=HOSTILE, payload=payload).action
    approve(cast.owner, done)
    transition_action(agent, done.uid, "approved", "executing")
    transition_action(agent, done.uid, "executing", "done", receipt={SHORT: HOSTILE})
    return [pending, done]


def make_sent(cast: Cast, agent: Any) -> list[Action]:
    """What our worker carries out: one that is about to be sent, and one of which nobody knows."""
    add_connection(cast.owner, "github", Tokens("a token"), Identity("1", SHORT, (SHORT,)))
    payload = {"repo": "octo/hello", "title": SHORT, "body": HOSTILE}
    made = [
        approve(
            cast.owner,
            propose(agent, class_name="github.create_issue", summary=HOSTILE, payload=payload).action,
        )
        for _ in range(2)
    ]
    doubtful = made[1]
    transition_action(system_actor(cast.account.id), doubtful.uid, "approved", "executing")
    Attempt.objects.create(
        account_id=doubtful.account_id, space_id=doubtful.space_id, action=doubtful, number=1, revision=1,
        digest=doubtful.current.digest, reason="ReadError", started_at=timezone.now(),
    )  # fmt: skip
    Action.objects.filter(id=doubtful.id).update(doubt=SHORT)
    Job.objects.filter(account_id=cast.account.id, lane="actions").delete()
    return made


def make_webhooks(cast: Cast) -> tuple[Webhook, Webhook]:
    """One that fails, with a message in each state, and one that is off and was never told of anything."""
    address = f"https://{'a-very-long-name.' * 8}example/"
    hook = create_webhook(cast.owner, Wish("Hook", address, EVENTS, space="main")).webhook
    now = timezone.now()
    Webhook.objects.filter(id=hook.id).update(name=SHORT, failing_since=now)
    states = (("pending", "answered 500"), ("failed", "its host can't be found"), ("delivered", ""))
    for state, trouble in states:
        Delivery.objects.create(
            account_id=cast.account.id, webhook=hook, space_id=cast.space.id, event="action.proposed",
            body=f'{{"data":"{"x" * 400}"}}', state=state, trouble=trouble, tries=3, since=now, created_at=now,
            again_at=now + timedelta(hours=1),
        )  # fmt: skip
    bare = create_webhook(cast.owner, Wish("Bare", "https://ci.example/", EVENTS)).webhook
    Webhook.objects.filter(id=bare.id).update(off="failing")
    return hook, bare


def make_rule(cast: Cast) -> Policy:
    person = cast.owner.in_space("main")
    rule = create_policy(
        person, Draft("A rule", "require", "pay.out", {"payload": {SHORT: HOSTILE}}, approvals=2)
    )
    change_policy(person, rule.uid, Draft("A rule", "deny", "pay.out", {"payload": {SHORT: 1}}), version=1)
    Policy.objects.filter(id=rule.id).update(name=SHORT)  # as it was taken earlier
    return Policy.objects.get(id=rule.id)


def make_memories(cast: Cast, agent: Any) -> Memory:
    labels = {"subject": SHORT, "tags": [SHORT], "topics": [SHORT], "source_ref": "javascript:window.pwned=1"}
    memory = remember(agent, text=HOSTILE, kind="note", metadata={SHORT: HOSTILE}, **labels).memory
    release_memory(cast.owner, memory.id)
    remember(agent, text="A plain one, pinned", pinned=True, tier="core")
    return edit_memory(cast.owner, memory.id, text=f"{HOSTILE} once more")


def make_dreams(cast: Cast, memory: Memory) -> tuple[str, str]:
    """A run that can be undone, one of whose memories was edited since, and one that waits for a person."""
    now = timezone.now()
    given = {"account_id": cast.account.id, "space_id": cast.space.id, "notes": HOSTILE, "created_at": now}
    done = DreamRun.objects.create(
        **given,
        thinker="server",
        model=SHORT,
        status="applied",
        finished_at=now,
        undo_until=now + timedelta(7),
    )
    waiting = DreamRun.objects.create(**given, thinker="rules", kind="clusters", status="review")
    for run, state in ((done, "applied"), (waiting, "proposed")):
        for number, op in enumerate(OPS):
            DreamChange.objects.create(
                account_id=cast.account.id,
                run=run,
                number=number,
                op=op,
                memories=[memory.id],
                proposal={"text": f"{HOSTILE} anew", "subject": SHORT, "tags": [SHORT], "reason": HOSTILE},
                before=[image_of(memory)],
                state=state,
            )
        DreamChange.objects.create(
            account_id=cast.account.id,
            run=run,
            number=9,
            op="drop",
            state="skipped",
            code="stale",
            note="Stale.",
        )
    return typed_id("run", done.id), typed_id("run", waiting.id)


def make_records(agent: Any) -> Record:
    due = (timezone.now().date() - timedelta(days=2)).isoformat()
    changes = Changes(due_at=due, data={"title": SHORT, SHORT: HOSTILE})
    record, _created = put_record(agent, "tasks", changes, key=SHORT)
    return update_record(agent, "tasks", record.id, Changes(data={"more": HOSTILE}))


def make_families(cast: Cast, agent: Any) -> None:
    statement: Statement = {"kind": "decision", "text": HOSTILE, "topics": [SHORT]}
    record_summary(agent, Summed(HOSTILE, [Item(statement)], SHORT, SHORT, "end"), space="main")
    for currency, amount in (("CHF", "4.20"), ("EUR", "99999999999999.9999")):
        entry = ledger.Entry(
            "expense",
            HOSTILE,
            amount,
            currency,
            category=SHORT,
            merchant=SHORT,
            payment_method=SHORT,
            note=HOSTILE,
        )
        kept = ledger.record_transaction(agent, entry).transaction
    ledger.void_transaction(agent, typed_id("txn", kept.id))
    ledger.set_reminder(agent, HOSTILE, "2020-01-01", recurrence="daily")
    update_space(cast.owner, Settings(capture_mode="review"))
    capture(agent, [CaptureSaid("user", f"Remember {SHORT}")], session=SHORT)


def make_plan(agent: Any) -> Plan:
    more = plans.Changes(tags=[SHORT], metadata={SHORT: HOSTILE}, status="active")
    text = f"# {HOSTILE}\n\n- {HOSTILE}\n\n> {HOSTILE}\n\n```\n{HOSTILE}\n```\n\n{HOSTILE}\n"
    plan = plans.create_plan(agent, SHORT, text, more)
    return plans.update_plan(
        agent, plan.id, plans.Changes(title=f"{SHORT} too", content=f"{text}More of it.\n")
    )


def make_transfers(cast: Cast) -> None:
    line = {"kind": "memory", "outcome": "conflicting", "file": SHORT, "line": 1, "begins": HOSTILE}
    report = {
        "system": "Memory Hub", "dry_run": True, "conflicts": 1, "lines": [line],
        "counts": {"memory": {"new": 1, "same": 0, "changed": 0, "conflicting": 1}},
        "left_out": [{"what": SHORT, "count": 1, "why": "Is not in the manifest."}],
    }  # fmt: skip
    for state, fields in {
        "running": {"direction": "out", "done": 500, "total": 1_000},
        "ready": {"direction": "out"},
        "failed": {"direction": "in", "name": SHORT, "error": HOSTILE},
        "done": {"direction": "in", "name": SHORT, "report": report, "dry_run": True},
    }.items():
        Transfer.objects.create(
            account=cast.account, space=cast.space, user_id=cast.owner.user_id, state=state,
            expires_at=timezone.now() + timedelta(hours=3), **fields,
        )  # fmt: skip


def make_rest(agent: Any) -> None:
    today: date = timezone.now().date()
    lists = {
        "decisions": [HOSTILE],
        "open_loops": [HOSTILE],
        "source_refs": ["javascript:window.pwned=1", HOSTILE],
    }
    write_journal(agent, today, Log(summary="before"))
    write_journal(agent, today, Log(summary=HOSTILE, **lists))
    write_journal(agent, today, Log(summary=HOSTILE, **lists), kind="week")
    set_value(agent, "flags", "<img src=x onerror=window.pwned=1>", {SHORT: HOSTILE})
