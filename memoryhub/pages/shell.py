"""The frame around every page of a team: its spaces, where one is, and how many actions wait."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.actor import Actor
from accounts.domain.accounts import accounts_of
from accounts.models import Account, User
from accounts.scopes import Right
from actions.domain.inbox import count_inbox
from spaces.domain.access import list_spaces
from spaces.models import Space
from spaces.views.requests import LAST_SPACE

SECTIONS = {
    "inbox": "inbox", "action": "inbox",
    "memories": "memories", "memory": "memories",
    "dreams": "dreams", "dream": "dreams",
    "sessions": "sessions", "session": "sessions", "ledger": "ledger", "capture": "capture",
    "journal": "journal", "records": "records", "record": "records", "collection": "records",
    "plans": "plans", "plan": "plans",
    "values": "values", "value": "values", "data": "data", "erase": "data", "keys": "keys", "key": "keys",
    "connections": "connections", "connection": "connections",
    "notifications": "notifications", "webhook": "notifications",
    "policies": "policies", "policy": "policies",
    "settings": "settings", "audit": "audit", "members": "members", "member": "members",
    "team": "team", "space": "team",
}  # fmt: skip


@dataclass(frozen=True)
class Shell:
    account: Account
    other_accounts: list[Account]
    spaces: list[Space]
    space: Space | None
    nav_space: Space | None
    section: str
    waiting: int
    shortcuts: bool
    exports: bool
    manages: bool

    @property
    def title(self) -> str:
        return self.nav_space.name if self.nav_space else self.account.name


def shell(request: HttpRequest) -> dict[str, object]:
    """Context processor. Worked out only by templates that draw the frame."""
    if not hasattr(request, "actor"):
        return {}
    return {"shell": SimpleLazyObject(lambda: build_shell(request))}


def build_shell(request: HttpRequest) -> Shell:
    actor, user = request.actor, request.user  # type: ignore[attr-defined]
    assert isinstance(user, User)
    accounts = accounts_of(user)
    spaces = list_spaces(actor)
    space = getattr(request, "space", None)
    nav_space = space or last_space(request, spaces)
    return Shell(
        account=next(account for account in accounts if account.id == actor.account_id),
        other_accounts=[account for account in accounts if account.id != actor.account_id],
        spaces=spaces,
        space=space,
        nav_space=nav_space,
        section=section_of(request),
        waiting=waiting_in(request, actor, nav_space),
        shortcuts=user.shortcuts,
        exports=actor.has(Right.EXPORT),
        manages=actor.has(Right.MANAGE),
    )


def waiting_in(request: HttpRequest, actor: Actor, space: Space | None) -> int:
    if hasattr(request, "waiting"):
        return int(request.waiting)
    return count_inbox(actor.in_space(space.slug), ["needs_you"])["needs_you"] if space else 0


def last_space(request: HttpRequest, spaces: list[Space]) -> Space | None:
    """Pages of the whole team keep the way back to the space one came from."""
    last = request.session.get(LAST_SPACE)
    return next((space for space in spaces if str(space.id) == last), spaces[0] if spaces else None)


def section_of(request: HttpRequest) -> str:
    name = request.resolver_match.url_name if request.resolver_match else ""
    return SECTIONS.get((name or "").split("-")[0], "")
