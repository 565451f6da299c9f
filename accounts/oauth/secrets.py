"""What tokens look like: `mho_…` to call with and `mhr_…` to renew it, so that a leak is known for one."""

import secrets
import string
from typing import Any

from accounts.domain.tokens import ACCESS, REFRESH

ALPHABET = string.digits + string.ascii_letters
LENGTH = 43  # 256 bits


def access_token(request: Any, refresh_token: bool = False) -> str:
    return ACCESS + _random()


def refresh_token(request: Any, refresh_token: bool = False) -> str:
    return REFRESH + _random()


def _random() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
