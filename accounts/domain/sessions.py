"""Browser sessions, looked at from outside a request: who is behind one, and who of many still is."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, get_user
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import F
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import Membership, User
from accounts.scopes import Role
from memoryhub.common.errors import NotFound


@dataclass(frozen=True)
class Holder:
    """A person in an account, by a session."""

    session_key: str
    user_id: UUID
    account_id: UUID


def session_key_in(cookies: str) -> str:
    """From a Cookie header; "" for none."""
    return parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME, "")


def person_of(session_key: str) -> User | None:
    """Whom a request with this session would be from."""
    request = HttpRequest()
    request.session = SessionStore(session_key)
    user = get_user(request) if session_key else None
    return user if isinstance(user, User) else None


def end_other_sessions(request: HttpRequest, user: User) -> None:
    """Every session of the person but this one ends, in whichever process its next request or socket is."""
    begin_epoch(user)
    request.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    others = UserSession.objects.filter(user_id=user.id).exclude(session_key=request.session.session_key)
    for session in others:
        session.end()


def end_every_session(user: User) -> None:
    """This one too, if there is one: whoever has the new password signs in with it."""
    begin_epoch(user)
    for session in UserSession.objects.filter(user_id=user.id):
        session.end()


def begin_epoch(user: User) -> None:
    User.objects.filter(id=user.id).update(session_epoch=F("session_epoch") + 1)
    user.refresh_from_db(fields=["session_epoch"])


def end_session(user: User, id: int) -> None:
    """One of the person's own."""
    session = UserSession.objects.filter(user_id=user.id, id=id).first()
    if session is None:
        raise NotFound("session")
    session.end()


def note_session(request: HttpRequest) -> None:
    """Where it is used from, and when, for its person to see."""
    UserSession.objects.create_from_request(request)


def roles_of(holders: Collection[Holder]) -> dict[Holder, Role | None]:
    """The role of each in their account, None where the session or the membership has ended.

    Two queries for any number of them.
    """
    hashes = _hashes_by_session({h.session_key for h in holders})
    members = {
        (m.user_id, m.account_id): m
        for m in Membership.objects.filter(
            user_id__in={h.user_id for h in holders}, account_id__in={h.account_id for h in holders}
        ).select_related("user")
    }
    return {h: _role(members.get((h.user_id, h.account_id)), hashes.get(h.session_key)) for h in holders}


def _hashes_by_session(keys: set[str]) -> dict[str, str]:
    """What each session that lasts was signed in with; it changes with the password."""
    lasting = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return {s.session_key: s.get_decoded().get(HASH_SESSION_KEY, "") for s in lasting}


def _role(member: Membership | None, signed_in_with: str | None) -> Role | None:
    if member is None or not member.user.is_active or signed_in_with is None:
        return None
    if not constant_time_compare(signed_in_with, member.user.get_session_auth_hash()):
        return None
    return Role(member.role)
