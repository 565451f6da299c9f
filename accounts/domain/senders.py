"""Whether a request comes from somebody, asked before anything that it sends is kept."""

from collections.abc import Mapping

from accounts.domain.credentials import look_again
from accounts.domain.resources import rest_api
from accounts.domain.sessions import person_of, session_key_in
from accounts.scopes import Scope
from memoryhub.common.errors import Unauthorized


def may_send_files(headers: Mapping[str, str], address: str) -> bool:
    """People who are signed in, and keys that may import. Header names in lower case."""
    return person_of(session_key_in(headers.get("cookie", ""))) is not None or _may_import(headers, address)


def _may_import(headers: Mapping[str, str], address: str) -> bool:
    try:
        return Scope.SPACE_ADMIN in look_again(headers, address=address, resource=rest_api()).scopes
    except Unauthorized:
        return False
