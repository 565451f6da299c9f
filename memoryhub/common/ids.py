"""Ids: UUIDs ordered by time inside, typed strings such as `mem_0198…` outside."""

import re
import uuid

from uuid_utils.compat import uuid7

from memoryhub.common.errors import NotFound

ID_PREFIXES = {
    "mem": "memory",
    "sum": "summary",
    "jrn": "journal entry",
    "rec": "record",
    "val": "value",
    "pln": "plan",
    "run": "run",
    "key": "key",
    "grt": "grant",
    "txn": "transaction",
    "rmd": "reminder",
    "cap": "capture",
    "spc": "space",
    "acc": "account",
    "act": "action",
    "con": "connection",
    "whk": "webhook",
    "dlv": "delivery",
    "pol": "policy",
    "usr": "person",
    "evt": "event",
}
HEX = re.compile(r"[0-9a-f]{32}")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id() -> uuid.UUID:
    """A UUIDv7. Ids made one after another in a process ascend, also within a millisecond."""
    return uuid7()


def typed_id(prefix: str, value: uuid.UUID) -> str:
    return f"{prefix}_{value.hex}"


def parse_id(prefix: str, text: object) -> uuid.UUID:
    """The UUID of a typed id or of a bare UUID.

    Whatever can't be an id of this kind is as absent as an unknown one: `NotFound` in the same words.
    """
    if isinstance(text, uuid.UUID):
        return text
    bare = text.removeprefix(f"{prefix}_").lower() if isinstance(text, str) else ""
    if HEX.fullmatch(bare) or UUID.fullmatch(bare):
        return uuid.UUID(bare)
    raise NotFound(ID_PREFIXES[prefix])
