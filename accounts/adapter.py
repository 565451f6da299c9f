from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest

from accounts.domain.seeds import seal_seed, unseal_seed
from accounts.views.fresh import is_fresh


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People join by invitation only."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Who has just signed in has shown who they are, here as on our own pages."""
        return super().is_reauthentication_required(app=app) and not is_fresh(self.request)


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Seeds are sealed; only who is signed in gets one."""

    def encrypt(self, text: str) -> str:
        return seal_seed(text, self.request.user.pk)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal_seed(encrypted_text)
