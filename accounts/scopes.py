"""What a credential may do (scopes) and what a person's role allows (rights)."""

from enum import StrEnum


class Scope(StrEnum):
    MCP_READ = "mcp:read"
    MCP_WRITE = "mcp:write"
    DECISIONS_READ = "decisions:read"
    DECISIONS_WRITE = "decisions:write"
    MEMORY_READ = "memory:read"
    MEMORY_WRITE = "memory:write"
    MEMORY_DELETE = "memory:delete"
    SPACE_READ = "space:read"
    SPACE_WRITE = "space:write"
    ACTIONS_PROPOSE = "actions:propose"
    ACTIONS_EXECUTE = "actions:execute"
    PLANS_READ = "plans:read"
    PLANS_WRITE = "plans:write"
    LEDGER_READ = "ledger:read"
    LEDGER_WRITE = "ledger:write"
    DREAM_RUN = "dream:run"
    EVENTS_READ = "events:read"
    EXPORT_READ = "export:read"
    SPACE_ADMIN = "space:admin"


EVERY_SCOPE = frozenset(Scope)

PRESETS: dict[str, frozenset[Scope]] = {
    "reader": frozenset(
        {
            Scope.MCP_READ,
            Scope.DECISIONS_READ,
            Scope.MEMORY_READ,
            Scope.SPACE_READ,
            Scope.PLANS_READ,
            Scope.LEDGER_READ,
            Scope.EVENTS_READ,
        }
    ),
    "writer": EVERY_SCOPE
    - {
        Scope.MEMORY_DELETE,
        Scope.EXPORT_READ,
        Scope.SPACE_ADMIN,
        Scope.ACTIONS_PROPOSE,
        Scope.ACTIONS_EXECUTE,
        Scope.DREAM_RUN,
    },
    "agent": EVERY_SCOPE - {Scope.MEMORY_DELETE, Scope.EXPORT_READ, Scope.SPACE_ADMIN},
    "operator": EVERY_SCOPE,
}

FAMILIES = ("hub", "decisions", "paths", "zerodb", "connector")
PROFILES = ("generic", "chatgpt", "claude_plugin")


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    APPROVER = "approver"
    MEMBER = "member"
    VIEWER = "viewer"


class Right(StrEnum):
    READ = "read"
    WRITE = "write"
    DECIDE = "decide"
    MANAGE = "manage"
    EXPORT = "export"
    DELETE_SPACE = "delete_space"


KEY_MAKERS = frozenset({Role.OWNER, Role.ADMIN, Role.MEMBER})
"""Who may make keys. Of the account as a whole, so it is no right that a space could narrow."""

ROLES_TO_GIVE: dict[Role, frozenset[Role]] = {
    Role.OWNER: frozenset(Role),
    Role.ADMIN: frozenset({Role.ADMIN, Role.MEMBER, Role.VIEWER}),
}
"""Which roles a person may invite to or give others. A role that isn't named gives none. Who may not decide makes
nobody who does: they could be that somebody under another address."""

ROLE_RIGHTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: frozenset(Right),
    Role.ADMIN: frozenset({Right.READ, Right.WRITE, Right.MANAGE, Right.EXPORT}),
    Role.APPROVER: frozenset({Right.READ, Right.WRITE, Right.DECIDE}),
    Role.MEMBER: frozenset({Right.READ, Right.WRITE}),
    Role.VIEWER: frozenset({Right.READ}),
}
