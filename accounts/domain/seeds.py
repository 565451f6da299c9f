"""Seeds of authenticator apps and of recovery codes, sealed at rest and bound to the person they are of.

A sealed seed is `<person>.<sealed>`: the person is authenticated with it, and a constraint of the table keeps a seed
of one person out of the row of another.
"""

from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db import transaction

from memoryhub.common.keyring import KeyringFault, is_current, seal, unseal

TABLE = "mfa_authenticator"
SEEDS = {Authenticator.Type.TOTP: "secret", Authenticator.Type.RECOVERY_CODES: "seed"}
"""By the kind of authenticator, what its seed is called in its data."""


def seal_seed(seed: str, user_id: UUID) -> str:
    return f"{user_id.hex}.{seal(seed, row=_row(user_id))}"


def unseal_seed(sealed: str) -> str:
    person, _, rest = sealed.partition(".")
    try:
        return unseal(rest, row=_row(UUID(person)))
    except ValueError:
        raise KeyringFault("A sealed seed is in no form that is known here.") from None


def reseal_seeds() -> int:
    """Everything under the first key of the keyring; how many weren't yet."""
    resealed = 0
    with transaction.atomic():
        for row in Authenticator.objects.select_for_update().filter(type__in=SEEDS):
            name = SEEDS[row.type]
            sealed = row.data.get(name, "")
            if sealed and not is_current(sealed.partition(".")[2]):
                row.data[name] = seal_seed(unseal_seed(sealed), row.user_id)
                row.save(update_fields=["data"])
                resealed += 1
    return resealed


def _row(user_id: UUID) -> str:
    return f"{TABLE}/{user_id}/seed"
