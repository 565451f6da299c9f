"""What has to be known before anybody may consent: by which connection it is carried out, and where it leads."""

from actions.connectors import CONNECTORS
from actions.domain.connections import not_connected
from actions.models import Action
from memoryhub.common.errors import HubError, PreconditionFailed


def check_ready(action: Action) -> None:
    if action.executor != "worker":
        return
    check_connected(action)
    if CONNECTORS[action.class_name].unresolved(action.current.payload):
        raise PreconditionFailed(
            action.doubt or "It is being looked up where this leads. Look again in a moment.",
            failed=["resolved"],
        )


def check_connected(action: Action) -> None:
    connection = action.current.connection
    if connection is None or connection.revoked_at:
        raise not_connected(action)
    if connection.broken:
        raise not_connected(action, broken=True)


def is_ready(action: Action) -> bool:
    try:
        check_ready(action)
    except HubError:
        return False
    return True
