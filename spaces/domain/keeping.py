"""Keeping a text under a path: where it goes, what it may say of its writer, and what its writer should know."""

from dataclasses import dataclass

from accounts.actor import Actor
from accounts.domain.accounts import access_account
from accounts.models import Account
from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import is_blank
from spaces.domain.claims import sanitize
from spaces.domain.memories import Remembered, remember
from spaces.domain.money import looks_financial
from spaces.domain.projects import Bound, bind_path
from spaces.models import Memory, Space

PROJECT_MISSING = "project_missing"
FINANCIAL = "financial_record: Transactions and reminders belong in the tool ledger, which can add them up."


@dataclass(frozen=True)
class Kept:
    """`sanitized` names the fields of the text that claimed who wrote it, and were dropped."""

    memory: Memory
    created: bool
    project: Space | None
    account: Account
    sanitized: list[str]
    warnings: list[str]


def keep(actor: Actor, content: str, path: str, *, create_project: bool = False) -> Kept:
    """Remember it where its path leads. With a project that is missing it stays in the space of the call, under
    that path: nothing is lost."""
    said = sanitize(content)
    _check(said.text, path)
    bound = bind_path(actor, path, create=create_project)
    stored = _remember(actor, bound, said.text, path)
    warnings = [PROJECT_MISSING] if bound.missing else []
    if looks_financial(said.text):
        warnings.append(FINANCIAL)
    account = access_account(actor)
    return Kept(stored.memory, stored.created, bound.project, account, said.dropped, warnings)


def _check(text: str, path: str) -> None:
    """Before a project is made for it."""
    faults = {
        name: ["Must say something."]
        for name, value in (("content", text), ("path", path))
        if is_blank(value)
    }
    if faults:
        raise ValidationFailed(faults)


def _remember(actor: Actor, bound: Bound, text: str, path: str) -> Remembered:
    within = actor.in_space(bound.project.slug) if bound.project else actor
    try:
        return remember(within, account_wide=bound.account_wide, text=text, path=path)
    except ValidationFailed as fault:
        raise ValidationFailed(
            {_ARGUMENT.get(name, name): said for name, said in fault.fields.items()}
        ) from fault


_ARGUMENT = {"text": "content"}
