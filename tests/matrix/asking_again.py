"""Which forms ask who is there unless that was shown within five minutes. Every form of a page needs a place here.

Asked is for what gives power, takes it away from people, keys and clients, or takes data out or in for good; stopping
what agents do never waits for a password.
"""

ALWAYS = {
    # how one signs in
    "account_email",
    "mfa_activate_totp",
    "mfa_generate_recovery_codes",
    "mfa_add_webauthn",
    "mfa_remove_webauthn",
    "mfa_edit_webauthn",
    # where one shows it: these lead to the password for who has nothing else
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    # keys and clients
    "connect",
    "key-new",
    "key-change",
    "key-rotate",
    "key-revoke",
    "keys-end-mine",
    "grant-revoke",
    "oauth-authorize",
    # people
    "member-invite",
    "member-withdraw",
    "member-open-space",
    "member-role",
    "member-space",
    "member-remove",
    "erase-person",
    # what is approved or denied by itself
    "policy-new",
    "policy",
    "policy-end",
    # vendors
    "connection-new",
    "connection-revoke",
    # who is told what happens
    "webhook-new",
    "webhook-change",
    "webhook-rotate",
    "webhook-remove",
    # letting go on what was stopped
    "stop-team",
    "stop-space",
    # data out and in
    "data",
    "data-import",
    "data-download",
    "erase",
}

ELSEWHERE = {
    "action-approve": "of high risk: tests/actions/views/test_risk.py. Here it is of none",
    "inbox-together": "of high risk: tests/actions/views/test_together.py. Here it is of none",
    "mfa_deactivate_totp": "for who has an app: tests/accounts/views/test_signing_in.py. Here nobody has",
}
"""These ask for something that nothing in this world has, and are tried where something does."""

NEVER = {
    # signing in and out, and what asks for the password itself or for a letter's secret
    "welcome",
    "account_login",
    "account_logout",
    "account_signup",
    "account_reset_password",
    "account_reset_password_from_key",
    "account_confirm_email",
    "account_confirm_login_code",
    "account_change_password",
    "account_set_password",
    "account_reauthenticate",
    "account_request_reauthentication_code",
    "account_confirm_reauthentication_code",
    "mfa_authenticate",
    "mfa_login_webauthn",
    # one's own sessions and looks
    "usersessions_list",
    "session-end",
    "profile",
    "theme",
    "shortcuts",
    # what changes nothing
    "audit-check",
    "connection-check",
    "webhook-test",
    "webhook-again",
    # whether one is told, and pausing what tells others
    "notifications",
    "notifications-slack",
    "webhook-switch",
    "settings-try",
    # deciding on what is of no high risk, or against it
    "action",
    "action-reject",
    "action-end",
    "action-edit",
    "action-snooze",
    "action-settle",
    "data-cancel",
    # the daily work
    "memory-new",
    "memory",
    "memory-hold",
    "memory-release",
    "memory-pin",
    "settings",
    "space-new",
    "team",
    "forget",
    "dreams",
    "dream-start",
    "dream-review",
    "dream-undo",
    "session-delete",
    "capture-mode",
    "capture-drop",
    "capture-keep",
    "ledger-new",
    "ledger-remind",
    "ledger-void",
    "ledger-complete",
    "journal-new",
    "journal-entry",
    "journal-delete",
    "record-new",
    "record",
    "record-delete",
    "plan-new",
    "plan",
    "plan-restore",
    "plan-delete",
    "value-new",
    "value",
    "value-delete",
}
