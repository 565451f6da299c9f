"""Who is calling. Authorization comes from the actor alone; what a client says of itself is attribution."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from accounts.scopes import EVERY_SCOPE, FAMILIES, ROLE_RIGHTS, Right, Role, Scope

KEY, GRANT = "key", "grant"
AGENTS = (KEY, GRANT)
"""Kinds of credentials that agents call with."""


@dataclass(frozen=True)
class Attribution:
    """What the client says of itself: shown and searchable, never a reason to allow anything."""

    agent: str = ""
    agent_instance: str = ""
    device_label: str = ""
    session: str = ""
    client: str = ""


@dataclass(frozen=True)
class Actor:
    """A person's session, an agent key, an OAuth grant, or the system.

    `space_ids` None means every space its person may see; `space_ref` is the space named by the request.
    """

    account_id: UUID
    kind: str
    role: Role
    user_id: UUID | None = None
    key_id: UUID | None = None  # or the grant's
    scopes: frozenset[Scope] = EVERY_SCOPE
    families: frozenset[str] = frozenset(FAMILIES)
    profile: str = "generic"
    default_space_id: UUID | None = None
    space_ids: frozenset[UUID] | None = None
    space_ref: str | None = None
    address: str = ""
    name: str = ""
    attribution: Attribution = field(default_factory=Attribution)
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What its answers say of the limits it is under."""

    @property
    def key(self) -> str:
        """A stable name for the credential: binds page tokens and marks who proposed."""
        return f"{self.kind}:{self.key_id or self.user_id or 'system'}"

    @property
    def is_person(self) -> bool:
        return self.kind == "person"

    def has(self, right: Right) -> bool:
        return right in ROLE_RIGHTS[self.role]

    def in_space(self, ref: str | None) -> "Actor":
        return replace(self, space_ref=ref) if ref else self


def system_actor(account_id: UUID) -> Actor:
    """The system itself: jobs, sweeps, first run."""
    return Actor(account_id=account_id, kind="system", role=Role.OWNER, name="Memory Hub")
