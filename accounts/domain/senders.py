"""Whether a request comes from somebody, asked before anything that it sends is kept."""

from collections.abc import Mapping

from accounts.domain.accounts import person_actor
from accounts.domain.credentials import look_again
from accounts.domain.resources import rest_api
from accounts.domain.sessions import person_of, session_key_in
from accounts.scopes import Right, Scope
from memoryhub.common.errors import NotFound, Unauthorized


def may_send_files(headers: Mapping[str, str], address: str, team: str | None) -> bool:
    """To a page of that team those who manage it, and without one keys that may import. Header names in lower case."""
    return _manages(headers, team) if team else _may_import(headers, address)


def _manages(headers: Mapping[str, str], team: str) -> bool:
    person = person_of(session_key_in(headers.get("cookie", "")))
    try:
        return person is not None and person_actor(person, team).has(Right.MANAGE)
    except NotFound:
        return False


def _may_import(headers: Mapping[str, str], address: str) -> bool:
    try:
        return Scope.SPACE_ADMIN in look_again(headers, address=address, resource=rest_api()).scopes
    except Unauthorized:
        return False
