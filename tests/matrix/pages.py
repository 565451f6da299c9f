"""Who may open each page, and who may do what it is for.

A new page needs a line in PAGES: an address with what it needs, and for GET and POST who gets which outcome.
`{memory}` and the like are ids of ours. `data` is a form that is accepted.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.matrix.world import DAY

SHOWN, GOES_ON, UNFIT = "shown", "goes on", "unfit"
SIGN_IN, FORBIDDEN, ABSENT, GONE, NOT_SO = "sign in", "forbidden", "absent", "gone", "not so"
OUTCOMES = {200: SHOWN, 403: FORBIDDEN, 404: ABSENT, 405: NOT_SO, 410: GONE, 422: UNFIT}

ROLES = ("owner", "admin", "approver", "member", "viewer")
STRANGERS = ("person of another team", "staff", "superuser", "removed member")
EVERYBODY = ("nobody", *STRANGERS, *ROLES)

Audience = dict[str, str]


def everybody(outcome: str, **but: str) -> Audience:
    return {**dict.fromkeys(EVERYBODY, outcome), **but}


def signed_in(outcome: str) -> Audience:
    return everybody(outcome, nobody=SIGN_IN)


def only_nobody(outcome: str) -> Audience:
    """Those who are signed in have no use for it."""
    return everybody(GOES_ON, nobody=outcome)


def roles(outcome: str, *allowed: str) -> Audience:
    """Those roles; the others of the team are told that they may not, and to strangers nothing is here."""
    inside = {role: outcome if role in allowed else FORBIDDEN for role in ROLES}
    return {"nobody": SIGN_IN, **dict.fromkeys(STRANGERS, ABSENT), **inside}


def members(outcome: str) -> Audience:
    return roles(outcome, *ROLES)


def writers(outcome: str) -> Audience:
    return roles(outcome, "owner", "admin", "approver", "member")


def makers(outcome: str) -> Audience:
    """Of keys."""
    return roles(outcome, "owner", "admin", "member")


def hosts(outcome: str, stranger: str) -> Audience:
    """Makers of keys, in whichever team; who is none is told that they let nobody in."""
    inside = makers(outcome)
    return {**inside, **dict.fromkeys(STRANGERS, FORBIDDEN), "person of another team": stranger}


def deciders(outcome: str) -> Audience:
    return roles(outcome, "owner", "approver")


def stoppers(outcome: str) -> Audience:
    return roles(outcome, "owner", "admin", "approver")


def managers(outcome: str, others: str = FORBIDDEN) -> Audience:
    denied = dict.fromkeys(("approver", "member", "viewer"), others)
    return roles(outcome, "owner", "admin") | denied


def the_owner(outcome: str) -> Audience:
    """What is the owner's own is nobody else's."""
    return everybody(ABSENT, nobody=SIGN_IN, owner=outcome)


def the_maker(outcome: str) -> Audience:
    """The owner made it; an admin may end it, but not have its secret."""
    return managers(outcome, ABSENT) | {"admin": FORBIDDEN}


@dataclass(frozen=True)
class Page:
    address: str
    get: Audience | None = None
    post: Audience | None = None
    data: dict[str, Any] = field(default_factory=dict)
    fresh: bool = False
    """Shown only to who has shown within minutes that they are themselves. What forms ask is in asking_again."""


TEAM = "/a/{account}/"
SPACE = "/a/{account}/{slug}/"
QUESTION = (
    "/oauth/authorize?client_id=client&response_type=code&redirect_uri=https://client.example/back"
    "&scope=memory:read&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
)
STRANGER = {"email": "stranger@evil.example", "password1": "correct horse battery"}
RECORD = {"status": "open", "content": "{{}}", "version": "2"}
MEMORY = {"text": "Tea is at four", "kind": "fact", "tier": "long", "version": "2"}
PLAN = {"title": "Tea", "content": "At four", "type": "plan", "status": "draft", "version": "2"}
RULE = {
    "name": "Two for letters", "effect": "require", "class_name": "gmail.reply",
    "approvals": "2", "step": "start",
}  # fmt: skip
WEBHOOK = {"name": "CI", "url": "https://ci.example/hub", "events": ["action.proposed"], "space": ""}
TRANSACTION = {"type": "expense", "item": "Tea", "amount": "4.20", "currency": "CHF"}
KEY = {"name": "mine", "preset": "reader", "space": "{space_id}", "life": "30"}

PAGES: dict[str, Page] = {
    # for whoever comes
    "healthz": Page("/healthz", get=everybody(SHOWN)),
    "readyz": Page("/readyz", get=everybody("503")),
    "protected-resource": Page("/.well-known/oauth-protected-resource", get=everybody(SHOWN)),
    "authorization-server": Page("/.well-known/oauth-authorization-server", get=everybody(SHOWN)),
    "oauth-register": Page("/oauth/register", get=everybody(NOT_SO), post=everybody("400")),
    "oauth-token": Page("/oauth/token", get=everybody(NOT_SO), post=everybody("400")),
    "oauth-revoke": Page("/oauth/revoke", get=everybody(NOT_SO), post=everybody("400")),
    "v1:openapi": Page("/v1/openapi.json", get=everybody(SHOWN)),
    "v1:follow-events": Page("/v1/events", get=everybody("401")),
    "v1:export": Page("/v1/export", get=everybody("401")),
    "v1:import": Page("/v1/import", post=everybody("401")),
    "v1:unknown": Page("/v1/nothing", get=everybody("401"), post=everybody("401")),
    "welcome": Page("/welcome/unknown/", get=everybody(GONE), post=everybody(GONE)),
    "profile": Page(
        "/profile/", get=signed_in(SHOWN), post=signed_in(GOES_ON), data={"name": "Another name"}
    ),
    "theme": Page("/appearance/", get=everybody(NOT_SO), post=everybody(GOES_ON)),
    "shortcuts": Page("/shortcuts/", get=everybody(NOT_SO), post=signed_in(GOES_ON)),
    "acting": Page("/acting/", get=signed_in(SHOWN)),
    "session-end": Page("/sessions/0/end/", get=everybody(NOT_SO), post=signed_in(ABSENT)),
    # signing in: allauth's
    "usersessions_list": Page("/accounts/sessions/", get=signed_in(SHOWN), post=signed_in(GOES_ON)),
    "mfa_index": Page("/accounts/2fa/", get=signed_in(SHOWN)),
    "mfa_authenticate": Page(
        "/accounts/2fa/authenticate/", get=only_nobody(SIGN_IN), post=only_nobody(SIGN_IN)
    ),
    "mfa_reauthenticate": Page(
        "/accounts/2fa/reauthenticate/", get=signed_in(GOES_ON), post=signed_in(GOES_ON)
    ),
    "mfa_activate_totp": Page("/accounts/2fa/totp/activate/", get=signed_in(SHOWN), post=signed_in(SHOWN)),
    "mfa_deactivate_totp": Page(
        "/accounts/2fa/totp/deactivate/", get=signed_in(ABSENT), post=signed_in(ABSENT)
    ),
    "mfa_view_recovery_codes": Page("/accounts/2fa/recovery-codes/", get=signed_in(ABSENT)),
    "mfa_generate_recovery_codes": Page(
        "/accounts/2fa/recovery-codes/generate/", get=signed_in(SHOWN), post=signed_in(SHOWN)
    ),
    "mfa_download_recovery_codes": Page("/accounts/2fa/recovery-codes/download/", get=signed_in(ABSENT)),
    "mfa_list_webauthn": Page("/accounts/2fa/webauthn/", get=signed_in(SHOWN)),
    "mfa_add_webauthn": Page("/accounts/2fa/webauthn/add/", get=signed_in(SHOWN), post=signed_in(SHOWN)),
    "mfa_reauthenticate_webauthn": Page(
        "/accounts/2fa/webauthn/reauthenticate/", get=signed_in(GOES_ON), post=signed_in(GOES_ON)
    ),
    "mfa_remove_webauthn": Page(
        "/accounts/2fa/webauthn/keys/0/remove/", get=signed_in(ABSENT), post=signed_in(ABSENT)
    ),
    "mfa_edit_webauthn": Page(
        "/accounts/2fa/webauthn/keys/0/edit/", get=signed_in(ABSENT), post=signed_in(ABSENT)
    ),
    "mfa_login_webauthn": Page(
        "/accounts/2fa/webauthn/login/", get=only_nobody(SIGN_IN), post=only_nobody(SIGN_IN)
    ),
    "account_login": Page("/accounts/login/", get=only_nobody(SHOWN), post=only_nobody(SHOWN)),
    "account_logout": Page(
        "/accounts/logout/", get=everybody(SHOWN, nobody=GOES_ON), post=everybody(GOES_ON)
    ),
    "account_signup": Page(
        "/accounts/signup/", get=only_nobody(SHOWN), post=only_nobody(SHOWN), data=STRANGER
    ),
    "account_inactive": Page("/accounts/inactive/", get=everybody(SHOWN)),
    "account_reset_password": Page("/accounts/password/reset/", get=everybody(SHOWN), post=everybody(SHOWN)),
    "account_reset_password_done": Page("/accounts/password/reset/done/", get=everybody(SHOWN)),
    "account_reset_password_from_key": Page(
        "/accounts/password/reset/key/1-no-key/", get=everybody(SHOWN), post=everybody(SHOWN)
    ),
    "account_reset_password_from_key_done": Page("/accounts/password/reset/key/done/", get=everybody(SHOWN)),
    "account_confirm_email": Page(
        "/accounts/confirm-email/no-key/", get=everybody(SHOWN), post=everybody(ABSENT)
    ),
    "account_email_verification_sent": Page("/accounts/confirm-email/", get=everybody(SHOWN)),
    "account_confirm_login_code": Page(
        "/accounts/login/code/confirm/", get=only_nobody(SIGN_IN), post=only_nobody(SIGN_IN)
    ),
    "account_email": Page(
        "/accounts/email/",
        get=signed_in(SHOWN),
        post=signed_in(GOES_ON),
        data={"email": "another@hub.example", "action_add": ""},
    ),
    "account_change_password": Page(
        "/accounts/password/change/", get=signed_in(SHOWN), post=signed_in(SHOWN)
    ),
    "account_set_password": Page("/accounts/password/set/", get=signed_in(GOES_ON), post=signed_in(GOES_ON)),
    "account_reauthenticate": Page("/accounts/reauthenticate/", get=signed_in(SHOWN), post=signed_in(SHOWN)),
    "account_request_reauthentication_code": Page(
        "/accounts/reauthenticate/code/", get=signed_in(FORBIDDEN), post=signed_in(FORBIDDEN)
    ),
    "account_confirm_reauthentication_code": Page(
        "/accounts/reauthenticate/code/confirm/", get=signed_in(FORBIDDEN), post=signed_in(FORBIDDEN)
    ),
    # the team
    "home": Page(
        "/", get=signed_in(GOES_ON) | dict.fromkeys(("staff", "superuser", "removed member"), FORBIDDEN)
    ),
    "account": Page(TEAM, get=members(GOES_ON)),
    "connect": Page(f"{TEAM}connect/", get=makers(SHOWN), post=makers(SHOWN), data=KEY, fresh=True),
    "team": Page(
        f"{TEAM}settings/", get=members(SHOWN), post=managers(GOES_ON), data={"name": "Another name"}
    ),
    "space-new": Page(
        f"{TEAM}spaces/new/",
        get=managers(SHOWN),
        post=managers(GOES_ON),
        data={"name": "Another", "time_zone": "UTC", "visibility": "account"},
    ),
    # people: everybody sees who is in the team, and of themselves what they may do
    "members": Page(f"{TEAM}members/", get=members(SHOWN)),
    "member": Page(f"{TEAM}members/person/{{person}}/", get=managers(SHOWN)),
    "member-invite": Page(
        f"{TEAM}members/invite/",
        get=members(NOT_SO),
        post=managers(SHOWN),
        data={"email": "ann@acme.example", "role": "viewer"},
    ),
    "member-withdraw": Page(
        f"{TEAM}members/invitation/{{invitation}}/withdraw/",
        get=members(NOT_SO),
        post=managers(GOES_ON),
    ),
    "member-open-space": Page(
        f"{TEAM}members/space/{{slug}}/",
        get=members(NOT_SO),
        post=managers(GOES_ON),
        data={"visibility": "members"},
    ),
    "member-role": Page(
        f"{TEAM}members/person/{{person}}/role/",
        get=members(NOT_SO),
        post=managers(GOES_ON),
        data={"role": "viewer"},
    ),
    "member-space": Page(
        f"{TEAM}members/person/{{person}}/space/",
        get=members(NOT_SO),
        post=managers(GOES_ON),
        data={"role": "viewer", "space": "{slug}"},
    ),
    "member-remove": Page(
        f"{TEAM}members/person/{{person}}/remove/",
        get=members(NOT_SO),
        post=managers(GOES_ON),
    ),
    # what happened
    "audit": Page(f"{TEAM}audit/", get=managers(SHOWN)),
    "audit-check": Page(f"{TEAM}audit/check/", get=members(NOT_SO), post=managers(GOES_ON)),
    "audit-download": Page(f"{TEAM}audit/download/", get=managers(SHOWN), fresh=True),
    # keys: one's own, and with the right to manage those of others
    "keys": Page(f"{TEAM}keys/", get=members(SHOWN)),
    "key-new": Page(f"{TEAM}keys/new/", get=makers(SHOWN), post=makers(SHOWN), data=KEY, fresh=True),
    "key-change": Page(
        f"{TEAM}keys/{{agent}}/change/",
        get=managers(SHOWN, ABSENT),
        post=managers(GOES_ON, ABSENT),
        data={"name": "mine", "scopes": "memory:read", "families": "hub", "space": "{space_id}"},
        fresh=True,
    ),
    "key-rotate": Page(
        f"{TEAM}keys/{{agent}}/rotate/",
        get=managers(SHOWN, ABSENT),
        post=the_maker(SHOWN),
        fresh=True,
    ),
    "key-first-call": Page(f"{TEAM}keys/{{agent}}/first-call/", get=managers(SHOWN, ABSENT)),
    "keys-end-mine": Page(f"{TEAM}keys/end-mine/", get=members(NOT_SO), post=members(GOES_ON)),
    "key-revoke": Page(f"{TEAM}keys/{{agent}}/revoke/", get=members(NOT_SO), post=managers(GOES_ON, ABSENT)),
    "grant-revoke": Page(
        f"{TEAM}keys/grants/{{grant}}/revoke/", get=members(NOT_SO), post=managers(GOES_ON, ABSENT)
    ),
    # letting a hosted client in: to a space of one's own, in any team
    "oauth-authorize": Page(
        QUESTION,
        get=hosts(SHOWN, stranger=SHOWN),
        post=hosts(GOES_ON, stranger=UNFIT),
        data={"decision": "allow", "granted": "memory:read", "space": "{space_id}"},
        fresh=True,
    ),
    # actions
    "inbox": Page(f"{SPACE}inbox/", get=members(SHOWN)),
    "inbox-together": Page(
        f"{SPACE}inbox/together/?class=mail.send",
        get=members(SHOWN),
        post=members(SHOWN),
        data={"chosen": "{action} {digest}", "to": "rejected"},
    ),
    "pulse": Page(f"{SPACE}inbox/pulse/", get=members(SHOWN)),
    "action": Page(f"{SPACE}actions/{{action}}/", get=members(SHOWN), post=members(NOT_SO)),
    "action-approve": Page(
        f"{SPACE}actions/{{action}}/approve/",
        get=members(NOT_SO),
        post=deciders(GOES_ON),
        data={"digest": "{digest}"},
    ),
    "action-reject": Page(f"{SPACE}actions/{{action}}/reject/", get=members(NOT_SO), post=deciders(GOES_ON)),
    "action-end": Page(
        f"{SPACE}actions/{{action}}/end/",
        get=members(NOT_SO),
        post=deciders(GOES_ON),
        data={"from": "pending", "to": "cancelled"},
    ),
    "action-edit": Page(
        f"{SPACE}actions/{{action}}/edit/",
        get=members(SHOWN),
        post=deciders(GOES_ON),
        data={"payload": '{{"text": "other"}}', "digest": "{digest}"},
    ),
    "action-snooze": Page(
        f"{SPACE}actions/{{action}}/snooze/",
        get=members(NOT_SO),
        post=deciders(GOES_ON),
        data={"hours": "1"},
    ),
    "action-settle": Page(
        f"{SPACE}actions/{{action}}/settle/",
        get=members(NOT_SO),
        post=deciders("409"),
        data={"happened": "yes"},
    ),
    "policies": Page(f"{SPACE}policies/", get=members(SHOWN)),
    "policy-new": Page(
        f"{SPACE}policies/new/", get=members(SHOWN), post=managers(GOES_ON), data=RULE, fresh=True
    ),
    "policy": Page(
        f"{SPACE}policies/{{policy}}/",
        get=members(SHOWN),
        post=managers(GOES_ON),
        data={**RULE, "version": "2"},
        fresh=True,
    ),
    "policy-end": Page(f"{SPACE}policies/{{policy}}/end/", get=members(NOT_SO), post=managers(GOES_ON)),
    # connections, and the switches that stop everything
    "connections": Page(f"{TEAM}connections/", get=members(SHOWN)),
    "connection-new": Page(
        f"{TEAM}connections/new/slack/",
        get=members(SHOWN),
        post=managers(UNFIT),
        data={"token": "not one\nat all"},
        fresh=True,
    ),
    "connection-callback": Page("/connections/callback/slack/", get=everybody("400", nobody=FORBIDDEN)),
    "connection-check": Page(
        f"{TEAM}connections/{{connection}}/check/", get=members(NOT_SO), post=managers(GOES_ON)
    ),
    "connection-revoke": Page(
        f"{TEAM}connections/{{connection}}/revoke/", get=members(NOT_SO), post=managers(GOES_ON)
    ),
    # being told: how one is written to is one's own; webhooks are for those who manage
    "notifications": Page(
        f"{TEAM}notifications/",
        get=members(SHOWN),
        post=members(GOES_ON),
        data={"mode": "gathered", "hours": "4"},
    ),
    "notifications-slack": Page(
        f"{TEAM}notifications/slack/", get=members(NOT_SO), post=members(GOES_ON), data={"on": "no"}
    ),
    "webhook-new": Page(
        f"{TEAM}webhooks/new/", get=managers(SHOWN), post=managers(SHOWN), data=WEBHOOK, fresh=True
    ),
    "webhook": Page(f"{TEAM}webhooks/{{webhook}}/", get=managers(SHOWN)),
    "webhook-change": Page(
        f"{TEAM}webhooks/{{webhook}}/change/",
        get=managers(SHOWN),
        post=managers(GOES_ON),
        data=WEBHOOK,
        fresh=True,
    ),
    "webhook-rotate": Page(
        f"{TEAM}webhooks/{{webhook}}/rotate/", get=members(NOT_SO), post=managers(SHOWN), fresh=True
    ),
    "webhook-switch": Page(
        f"{TEAM}webhooks/{{webhook}}/switch/", get=members(NOT_SO), post=managers(GOES_ON), data={"on": "no"}
    ),
    "webhook-remove": Page(
        f"{TEAM}webhooks/{{webhook}}/remove/", get=members(NOT_SO), post=managers(GOES_ON), fresh=True
    ),
    "webhook-test": Page(f"{TEAM}webhooks/{{webhook}}/test/", get=members(NOT_SO), post=managers(GOES_ON)),
    "webhook-again": Page(
        f"{TEAM}webhooks/{{webhook}}/again/{{delivery}}/", get=members(NOT_SO), post=managers(GOES_ON)
    ),
    "stop-team": Page(
        f"{TEAM}connections/stop-all/", get=members(NOT_SO), post=stoppers(GOES_ON), data={"paused": "no"}
    ),
    "stop-space": Page(f"{SPACE}stop/", get=members(NOT_SO), post=stoppers(GOES_ON), data={"paused": "no"}),
    # what the space holds
    "memories": Page(f"{SPACE}memories/", get=members(SHOWN)),
    "memory-new": Page(f"{SPACE}memories/new/", get=members(SHOWN), post=writers(GOES_ON), data=MEMORY),
    "memory": Page(f"{SPACE}memories/{{memory}}/", get=members(SHOWN), post=writers(GOES_ON), data=MEMORY),
    "memories-held": Page(f"{SPACE}memories/held/", get=members(SHOWN)),
    "memory-hold": Page(f"{SPACE}memories/{{memory}}/hold/", get=members(NOT_SO), post=writers(GOES_ON)),
    "memory-release": Page(f"{SPACE}memories/{{held}}/release/", get=members(NOT_SO), post=writers(GOES_ON)),
    "settings": Page(
        f"{SPACE}settings/",
        get=members(SHOWN),
        post=managers(GOES_ON),
        data={
            "name": "Main",
            "time_zone": "UTC",
            "scratch_days": "7",
            "secret_policy": "redact",
            "description": "Ours",
        },
    ),
    "settings-try": Page(
        f"{SPACE}settings/try/", get=members(NOT_SO), post=members(SHOWN), data={"sample": "Tea is at four"}
    ),
    "memory-pin": Page(f"{SPACE}memories/{{memory}}/pin/", get=members(NOT_SO), post=writers(GOES_ON)),
    "data": Page(
        f"{SPACE}data/",
        get=managers(SHOWN),
        post=managers(GOES_ON),
        data={"scope": "space"},
        fresh=True,
    ),
    "data-transfer": Page(f"{SPACE}data/{{transfer}}/", get=the_owner(SHOWN)),
    "data-cancel": Page(f"{SPACE}data/{{transfer}}/cancel/", get=members(NOT_SO), post=the_owner(GOES_ON)),
    "data-import": Page(f"{SPACE}data/{{transfer}}/import/", get=members(NOT_SO), post=the_owner(ABSENT)),
    "data-download": Page(f"{SPACE}data/{{transfer}}/download/", get=members(NOT_SO), post=the_owner(SHOWN)),
    "erase": Page(
        f"{SPACE}erase/",
        get=roles(SHOWN, "owner"),
        post=roles(SHOWN, "owner"),
        data={"typed": "{slug}"},
        fresh=True,
    ),
    "erase-person": Page(
        "/a/{account}/members/{viewer}/erase/",
        get=managers(SHOWN),
        post=managers(SHOWN),
        data={"typed": "{viewer_address}"},
        fresh=True,
    ),
    "forget": Page(
        f"{SPACE}forget/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"ids": "{memory}", "scopes": "memories", "digest": "{rows}", "confirm": "forget"},
    ),
    "dreams": Page(
        f"{SPACE}dreams/",
        get=members(SHOWN),
        post=managers(GOES_ON),
        data={"mode": "client", "hours": "24"},
    ),
    "dream-start": Page(f"{SPACE}dreams/start/", get=members(NOT_SO), post=writers(GOES_ON)),
    "dream": Page(f"{SPACE}dreams/{{run}}/", get=members(SHOWN)),
    "dream-review": Page(f"{SPACE}dreams/{{run}}/review/", get=members(NOT_SO), post=writers(GOES_ON)),
    "dream-undo": Page(f"{SPACE}dreams/{{run}}/undo/", get=members(NOT_SO), post=writers(GOES_ON)),
    "sessions": Page(f"{SPACE}sessions/", get=members(SHOWN)),
    "session-delete": Page(
        f"{SPACE}sessions/{{summary}}/delete/", get=members(NOT_SO), post=writers(GOES_ON)
    ),
    "capture": Page(f"{SPACE}capture/", get=members(SHOWN)),
    "capture-mode": Page(
        f"{SPACE}capture/mode/", get=members(NOT_SO), post=managers(GOES_ON), data={"mode": "on"}
    ),
    "capture-drop": Page(
        f"{SPACE}capture/drop/", get=members(NOT_SO), post=writers(GOES_ON), data={"ids": "{capture}"}
    ),
    "capture-keep": Page(f"{SPACE}capture/{{capture}}/keep/", get=members(NOT_SO), post=writers(GOES_ON)),
    "ledger": Page(f"{SPACE}ledger/", get=members(SHOWN)),
    "ledger-new": Page(f"{SPACE}ledger/new/", get=members(SHOWN), post=writers(GOES_ON), data=TRANSACTION),
    "ledger-remind": Page(
        f"{SPACE}ledger/remind/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"content": "Tea", "due_at": DAY},
    ),
    "ledger-void": Page(f"{SPACE}ledger/{{transaction}}/void/", get=members(NOT_SO), post=writers(GOES_ON)),
    "ledger-complete": Page(
        f"{SPACE}ledger/reminders/{{reminder}}/complete/", get=members(NOT_SO), post=writers(GOES_ON)
    ),
    "journal": Page(f"{SPACE}journal/", get=members(SHOWN)),
    "journal-new": Page(
        f"{SPACE}journal/new/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"summary": "Quiet", "date": "2026-03-01", "kind": "day"},
    ),
    "journal-entry": Page(
        f"{SPACE}journal/day/{DAY}/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"summary": "x", "version": "2"},
    ),
    "journal-delete": Page(f"{SPACE}journal/day/{DAY}/delete/", get=members(NOT_SO), post=writers(GOES_ON)),
    "records": Page(f"{SPACE}records/", get=members(SHOWN)),
    "record-new": Page(
        f"{SPACE}records/new/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={**RECORD, "collection": "leads"},
    ),
    "collection": Page(f"{SPACE}records/in/leads/", get=members(SHOWN)),
    "collection-csv": Page(f"{SPACE}records/csv/leads/", get=members(SHOWN)),
    "record": Page(
        f"{SPACE}records/in/leads/{{record}}/", get=members(SHOWN), post=writers(GOES_ON), data=RECORD
    ),
    "record-delete": Page(
        f"{SPACE}records/in/leads/{{record}}/delete/", get=members(NOT_SO), post=writers(GOES_ON)
    ),
    "plans": Page(f"{SPACE}plans/", get=members(SHOWN)),
    "plan-new": Page(f"{SPACE}plans/new/", get=members(SHOWN), post=writers(GOES_ON), data=PLAN),
    "plan": Page(f"{SPACE}plans/{{plan}}/", get=members(SHOWN), post=writers(GOES_ON), data=PLAN),
    "plan-restore": Page(
        f"{SPACE}plans/{{plan}}/restore/",
        get=members(NOT_SO),
        post=writers(GOES_ON),
        data={"number": "1", "version": "2"},
    ),
    "plan-delete": Page(f"{SPACE}plans/{{plan}}/delete/", get=members(NOT_SO), post=writers(GOES_ON)),
    "values": Page(f"{SPACE}values/", get=members(SHOWN)),
    "value-new": Page(
        f"{SPACE}values/new/",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"namespace": "prefs", "key": "new", "value": "1"},
    ),
    "values-namespace": Page(f"{SPACE}values/in/prefs/", get=members(SHOWN)),
    "value": Page(
        f"{SPACE}values/in/prefs/value/?key=tone",
        get=members(SHOWN),
        post=writers(GOES_ON),
        data={"value": "2", "version": "1"},
    ),
    "value-delete": Page(
        f"{SPACE}values/in/prefs/value/delete/?key=tone", get=members(NOT_SO), post=writers(GOES_ON)
    ),
}
