"""Asking an address that somebody named: a webhook's endpoint, a client's document.

Whoever names it must not reach through the hub what only the hub can reach. Only public addresses are connected to,
and those networks that the operator lists; what a name resolves to is checked at the moment of connecting, and the
connection goes to the very address that was checked.
"""

from memoryhub.common.outward.addresses import is_listed, may_be_asked
from memoryhub.common.outward.asking import Answer, NoAnswer, NotAsked, ask
from memoryhub.common.outward.places import BadAddress, Place, read_place

__all__ = [
    "Answer",
    "BadAddress",
    "NoAnswer",
    "NotAsked",
    "Place",
    "ask",
    "is_listed",
    "may_be_asked",
    "read_place",
]
