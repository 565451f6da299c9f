"""Everything that is sealed at rest, put under the first key of the keyring. What seals something is listed here."""

from collections.abc import Callable
from uuid import UUID

from accounts.domain import seeds
from accounts.domain.accounts import every_account
from actions.domain import connections
from actions.domain.notices import webhooks

OF_AN_ACCOUNT: dict[str, Callable[[UUID], int]] = {
    "actions_connection.sealed": connections.reseal_connections,
    "actions_webhook.sealed": webhooks.reseal_webhooks,
}
OF_PEOPLE: dict[str, Callable[[], int]] = {
    "mfa_authenticator.data": seeds.reseal_seeds,
}
"""By the column, what puts its rows under the first key, and answers how many weren't yet."""


def reseal_all() -> dict[str, int]:
    """By the column, how many were sealed anew. For the operator of the installation."""
    accounts = [account.id for account in every_account()]
    done = {column: sum(reseal(id) for id in accounts) for column, reseal in OF_AN_ACCOUNT.items()}
    return done | {column: reseal() for column, reseal in OF_PEOPLE.items()}
