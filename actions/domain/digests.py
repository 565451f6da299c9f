"""What consent is pinned to: SHA-256 over everything that decides what an action does.

The agent's own words (`summary`, `meta`) stay outside it.
"""

import hashlib
import json
from hmac import compare_digest

from actions.models import Action, ActionRevision
from memoryhub.common.canonical import canonical_json
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time


def consent_content(action: Action, revision: ActionRevision) -> bytes:
    """The canonical JSON that is hashed. Payload and preconditions stand in it byte for byte as stored.

    What the agent carries out itself has no connection. Whose account a connection is for at the vendor is read
    from the connection as it is now.
    """
    connection = revision.connection
    facts = {
        "space": typed_id("spc", action.space_id),
        "action": action.uid,
        "revision": revision.number,
        "class": action.class_name,
        "class_version": revision.schema_version,
        "executor": action.executor,
        "connection": connection.uid if connection else None,
        "connection_account": f"{connection.vendor}:{connection.vendor_ref}" if connection else None,
        "expires_at": format_time(revision.expires_at),
    }
    members = {name: canonical_json(value) for name, value in facts.items()}
    members["payload"] = revision.payload_json.encode()
    members["preconditions"] = revision.preconditions_json.encode()
    return b"{" + b",".join(b'"%s":%s' % (n.encode(), members[n]) for n in sorted(members)) + b"}"


def consent_digest(action: Action, revision: ActionRevision) -> str:
    return hashlib.sha256(consent_content(action, revision)).hexdigest()


def proposal_hash(class_name: str, payload: object) -> bytes:
    """The same for a repeated proposal, whatever the order of its keys and the spelling of its numbers."""
    return hashlib.sha256(canonical_json({"class": class_name, "payload": payload})).digest()


def is_same(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())


def is_intact(action: Action, revision: ActionRevision) -> bool:
    """Whether what is stored is still what was proposed."""
    return (
        is_same(revision.digest, consent_digest(action, revision))
        and (action.revision, action.expires_at) == (revision.number, revision.expires_at)
        and all(map(_is_canonical, (revision.payload_json, revision.preconditions_json)))
    )


def _is_canonical(text: str) -> bool:
    try:
        return canonical_json(json.loads(text)) == text.encode()
    except ValueError:
        return False
