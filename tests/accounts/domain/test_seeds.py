from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, connection, transaction

from accounts.domain.seeds import reseal_seeds, seal_seed, unseal_seed
from accounts.models import User
from memoryhub.common.keyring import KeyringFault, new_entry
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
SEED = "JBSWY3DPEHPK3PXP"


def kept(cast: Cast, who: str = "owner") -> Authenticator:
    user: Any = getattr(cast, who).user_id
    return Authenticator.objects.create(user_id=user, type="totp", data={"secret": seal_seed(SEED, user)})


def test_a_seed_is_not_in_the_database_in_clear(cast: Cast) -> None:
    row = kept(cast)
    with connection.cursor() as cursor:
        cursor.execute("select data::text from mfa_authenticator")
        assert SEED not in cursor.fetchone()[0]
    assert unseal_seed(row.data["secret"]) == SEED


def test_a_seed_in_clear_and_one_of_another_person_are_refused_by_the_table(cast: Cast) -> None:
    sealed = kept(cast).data["secret"]
    for data in ({"secret": SEED}, {"secret": sealed}, {"seed": sealed}):
        kind = "totp" if "secret" in data else "recovery_codes"
        with pytest.raises(IntegrityError, match="seed_of_its_person"), transaction.atomic():
            Authenticator.objects.create(user_id=cast.admin.user_id, type=kind, data=data)


def test_a_seed_that_is_renamed_to_another_person_does_not_open(cast: Cast) -> None:
    sealed = kept(cast).data["secret"]
    moved = f"{cast.admin.user_id.hex}.{sealed.partition('.')[2]}"  # type: ignore[union-attr]
    for spoilt in (moved, sealed[:-2], "nobody.v1.a.b.c", ""):
        with pytest.raises(KeyringFault):
            unseal_seed(spoilt)


def test_seeds_are_sealed_anew_under_another_key(cast: Cast, settings: Any) -> None:
    row = kept(cast)
    settings.KEYRING = f"{new_entry()},{settings.KEYRING}"
    assert (reseal_seeds(), reseal_seeds()) == (1, 0)
    settings.KEYRING = settings.KEYRING.partition(",")[0]
    row.refresh_from_db()
    assert unseal_seed(row.data["secret"]) == SEED
    assert User.objects.filter(id=row.user_id).exists()
