"""What becomes of a write in which a secret was found."""

from collections.abc import Iterable

from memoryhub.common.errors import SecretRejected
from memoryhub.common.secrets.walking import Cut

REDACT, REJECT, QUARANTINE = POLICIES = ("redact", "reject", "quarantine")
PRIVATE_KEY = "private_key"

# Names by which things are found again: cut, two of them would be one.
IDENTITIES = frozenset(
    {"id", "ids", "key", "ns", "namespace", "collection", "idempotency_key", "query", "from", "to"}
)
# What is sent outside is sent as it was shown, or not at all; and what that is held against is as it was given.
OUTGOING = frozenset({"payload", "preconditions"})


def check_always(cut: Cut, *, whole: bool = False) -> None:
    """What no policy allows: private keys, texts that are mostly secret, a secret as a name or in what is sent out.

    `whole`: nothing of this write may be altered.
    """
    if not cut.categories:
        return
    if PRIVATE_KEY in cut.categories:
        raise rejected(cut.categories, "It holds a private key, which is never stored. Leave it out.")
    if whole or any(_is_in(place, OUTGOING) for place in cut.places):
        raise rejected(cut.categories, "What is sent out or deleted must hold no secret, and isn't altered.")
    if any(_is_in(place, IDENTITIES) for place in cut.places):
        raise rejected(cut.categories, "A secret can't be a name. Send another one.")
    if cut.mostly_secret:
        raise rejected(
            cut.categories, "It is little but a secret. Say what it is for instead, and where it is kept."
        )


def check_policy(cut: Cut, policy: str) -> None:
    if cut.categories and policy == REJECT:
        raise rejected(cut.categories, "This space stores nothing that holds a secret. Leave it out.")


def rejected(categories: Iterable[str], why: str) -> SecretRejected:
    found = sorted(categories)
    return SecretRejected(f"Found: {', '.join(found)}. {why}", categories=found)


def _is_in(place: tuple[str | int, ...], names: frozenset[str]) -> bool:
    return bool(place) and place[0] in names
