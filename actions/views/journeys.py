"""Who was sent to a vendor to sign in, and is awaited. Kept in the browser's session, each taken up once."""

import hashlib
import time
from dataclasses import asdict, dataclass

from django.core.cache import cache
from django.http import HttpRequest

from actions.domain.signing_in import Journey
from memoryhub.common.errors import Conflict, Forbidden, HubError, InvalidRequest

ELSEWHERE = "This answer comes from elsewhere than you were sent to. Nothing was connected."
KEPT, MOST, LASTS = "journeys", 5, 15 * 60


@dataclass(frozen=True)
class Awaited:
    vendor: str
    account: str
    user: str
    verifier: str
    since: float


def await_return(request: HttpRequest, account: str, vendor: str, journey: Journey) -> None:
    awaited = Awaited(vendor, account, str(request.user.pk), journey.verifier, time.time())
    kept = {**request.session.get(KEPT, {}), journey.state: asdict(awaited)}
    request.session[KEPT] = dict(sorted(kept.items(), key=lambda item: item[1]["since"])[-MOST:])


def take_up(request: HttpRequest, vendor: str, state: str) -> Awaited:
    """The one with this state, which nobody takes up after that, not even at the same moment."""
    kept = dict(request.session.get(KEPT, {}))
    found = kept.pop(state, None)
    if found is None:
        raise _unknown(state)
    request.session[KEPT] = kept
    awaited = Awaited(**found)
    if not cache.add(_used(state), True, LASTS * 2):
        raise _unknown(state)
    if awaited.vendor != vendor:
        raise InvalidRequest(ELSEWHERE)
    if awaited.user != str(request.user.pk):
        raise Forbidden("Somebody else began this in the same browser. Nothing was connected.")
    if time.time() - awaited.since > LASTS:
        raise Conflict("That took too long. Nothing was connected: begin again.")
    return awaited


def _unknown(state: str) -> HubError:
    if state and cache.get(_used(state)):
        return Conflict(
            "This answer was taken up already: it counts once. Look at Connections for what came of it."
        )
    return InvalidRequest(
        "This was not begun in this browser by who is signed in now, or is long over. Nothing was connected."
    )


def _used(state: str) -> str:
    return f"journey:{hashlib.sha256(state.encode()).hexdigest()}"
