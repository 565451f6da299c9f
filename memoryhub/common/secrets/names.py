"""Names of fields, variables, headers and parameters: which of them hold a secret."""

import re
import tomllib
from enum import Enum
from functools import lru_cache
from importlib import resources

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")
LONGEST = 100
PASS = "pass"


class Holds(Enum):
    """What a field of such a name holds, and so how odd a value has to look to be taken for a secret."""

    PHRASE = "passphrase"
    PASSWORD = "password"
    SECRET = "secret"
    TOKEN = "token"
    CREDENTIALS = "credentials"


TABLE = {
    name: tuple(words.split())
    for name, words in tomllib.loads(
        resources.files(__package__).joinpath("names.toml").read_text(encoding="utf-8")
    ).items()
}
WORDS, AFTER = frozenset(TABLE["words"]), frozenset(TABLE["after"])


@lru_cache(maxsize=4096)
def holds(name: str) -> Holds | None:
    """What a field of this name holds, if that is a secret."""
    words = [word.lower() for word in WORD.findall(name[-LONGEST:])]
    while len(words) > 1 and (words[-1] in AFTER or words[-1].isdigit()):
        words.pop()
    squashed = "".join(words)
    if not words or squashed.endswith(TABLE["otherwise"]):
        return None
    if words[-1] == PASS:
        return Holds.PASSWORD
    return next((kind for kind in Holds if _ends_so(squashed, words[-1], TABLE[kind.value])), None)


def _ends_so(squashed: str, last: str, endings: tuple[str, ...]) -> bool:
    """A short ending counts as a word of its own only: `sid` is in `inside`, and `pat` in `compat`."""
    return any(squashed.endswith(ending) and (ending not in WORDS or last == ending) for ending in endings)
