import logging
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit

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

log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People join by invitation only. Letters and counters know the hub by its own address alone, whatever Host a
    request names."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Signed by the hub, and leading to it, whatever address it was asked at; without a mail server nothing is
        written at all."""
        if mail_is_sent():
            links = {name: own_address(link) for name, link in context.items() if name.endswith("_url")}
            hub = {"name": "Memory Hub", "domain": settings.PUBLIC_URL}  # what stands in for a site
            super().send_mail(template_prefix, email, {"current_site": hub, **context, **links})

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Who has just signed in has shown who they are, here as on our own pages."""
        return super().is_reauthentication_required(app=app) and not is_fresh(self.request)

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """What it tells of has happened already, so it doesn't fail with the mail server."""
        try:
            super().send_notification_mail(*args, **kwargs)
        except (OSError, SMTPException) as fault:
            log.warning("a letter about a changed account could not be sent: %s", type(fault).__name__)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Tries are counted by account: another Host or port is no other account."""
        return f"login:{credentials.get('email', '').lower()}"

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """It takes both, the letter and its person: a stranger who opens it proves nothing for them."""
        if request.user.pk != email_address.user_id:
            messages.error(request, _("Sign in as who had the letter sent, then open its link again."))
            return False
        if belongs_to_another(email_address):
            messages.error(request, _("Somebody else signs in with this address already."))
            return False
        return bool(super().confirm_email(request, email_address))


def own_address(link: str) -> str:
    """The same page at the address that the hub is known by."""
    parts = urlsplit(link)
    return f"{settings.PUBLIC_URL}{parts._replace(scheme='', netloc='').geturl()}"


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Seeds are sealed; only who is signed in gets one."""

    def encrypt(self, text: str) -> str:
        return seal_seed(text, self.request.user.pk)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal_seed(encrypted_text)
