"""After a rotation nothing is under the old key, whatever sealed it; what begins to seal something is known here."""

import ast
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator

from accounts.domain.seeds import seal_seed, unseal_seed
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection, list_connections
from actions.domain.notices.webhooks import kept_of, list_webhooks
from actions.domain.tokens import token_of
from memoryhub.common.keyring import new_entry
from memoryhub.common.tenancy import tenant
from memoryhub.flows.resealing import OF_AN_ACCOUNT, OF_PEOPLE, reseal_all
from tests.actions.notices_stage import hook
from tests.conftest import Cast
from tests.memoryhub.flows.planting import dumped

ROOT = Path(__file__).resolve().parents[3]
KEYRING = "memoryhub.common.keyring"
TOKEN = "a token of this test"
SEALS = {
    "accounts.domain.seeds": "mfa_authenticator.data",
    "actions.domain.connections": "actions_connection.sealed",
    "actions.domain.notices.webhooks": "actions_webhook.sealed",
    "actions.domain.tokens": "actions_connection.sealed",
}
"""By the module that seals something, the column that it is in. One that isn't here fails until it is."""


def modules_that_seal() -> set[str]:
    """Those that import the function which seals."""
    found = set()
    for app in ("accounts", "actions", "spaces", "memoryhub"):
        for path in (ROOT / app).rglob("*.py"):
            imports = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
            if any(n.module == KEYRING and "seal" in {name.name for name in n.names} for n in imports):
                found.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return found


def test_whatever_seals_something_can_seal_it_anew() -> None:
    assert modules_that_seal() == SEALS.keys()
    assert set(SEALS.values()) == OF_AN_ACCOUNT.keys() | OF_PEOPLE.keys()


@pytest.mark.django_db(transaction=True)
def test_after_a_rotation_nothing_anywhere_is_under_the_old_key(cast: Cast, settings: Any) -> None:
    with tenant(cast.account.id):
        add_connection(cast.owner, "github", Tokens(TOKEN), Identity(ref="acme", name="Acme"))
        secret = hook(cast).secret
    seed: Any = cast.owner.user_id
    kept = Authenticator.objects.create(
        user_id=seed, type="totp", data={"secret": seal_seed("JBSWY3DP", seed)}
    )
    mark = f"v1.{settings.KEYRING.partition(':')[0]}."
    assert dumped().count(mark) == 3
    settings.KEYRING = f"{new_entry()},{settings.KEYRING}"
    for times in (1, 0):
        assert reseal_all() == dict.fromkeys(SEALS.values(), times)
    assert mark not in dumped()
    settings.KEYRING = settings.KEYRING.partition(",")[0]
    kept.refresh_from_db()
    assert unseal_seed(kept.data["secret"]) == "JBSWY3DP"
    with tenant(cast.account.id):
        assert token_of(list_connections(cast.owner)[0]) == TOKEN
        assert kept_of(list_webhooks(cast.owner)[0]).secret == secret
