"""In which space a row of the ledger is: that of the project which its path names, or that of the call."""

from accounts.actor import Actor
from accounts.scopes import Right
from spaces.domain.access import access_space
from spaces.domain.keeping import PROJECT_MISSING
from spaces.domain.projects import bind_path, project_of
from spaces.models import Space


def writing_space(actor: Actor, path: str) -> tuple[Space, list[str]]:
    """The space, and what the caller should know: with a project that is missing it is the space of the call."""
    bound = bind_path(actor, path)
    space = bound.project or access_space(actor, right=Right.WRITE)
    return space, [PROJECT_MISSING] if bound.missing else []


def reading_space(actor: Actor, path: str) -> Space:
    return project_of(actor, path) or access_space(actor)
