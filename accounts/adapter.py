from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.domain.addresses import belongs_to_another, mail_is_sent
from accounts.domain.seeds import seal_seed, unseal_seed
from accounts.views.fresh import is_fresh

HUB = {"name": "Memory Hub", "domain": settings.PUBLIC_URL}
"""What stands in for a site in letters."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People join by invitation only."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Signed by the hub, whatever address it was asked at; without a mail server nothing is written at all."""
        if mail_is_sent():
            super().send_mail(template_prefix, email, {"current_site": HUB, **context})

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Who has just signed in has shown who they are, here as on our own pages."""
        return super().is_reauthentication_required(app=app) and not is_fresh(self.request)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """It takes both, the letter and its person: a stranger who opens it proves nothing for them."""
        if request.user.pk != email_address.user_id:
            messages.error(request, _("Sign in as who had the letter sent, then open its link again."))
            return False
        if belongs_to_another(email_address):
            messages.error(request, _("Somebody else signs in with this address already."))
            return False
        return bool(super().confirm_email(request, email_address))


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Seeds are sealed; only who is signed in gets one."""

    def encrypt(self, text: str) -> str:
        return seal_seed(text, self.request.user.pk)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal_seed(encrypted_text)
