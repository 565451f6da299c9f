"""The page of one's own address: whether a letter has proven it, and which one is to take its place."""

from typing import Any

from allauth.account.views import EmailView
from django.http import HttpRequest

from accounts.domain.addresses import awaited, is_proven, mail_is_sent


class AddressView(EmailView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = self.request.user
        told = {"awaited": awaited(user).last(), "proven": is_proven(user), "mails": mail_is_sent()}
        return {**super().get_context_data(**kwargs), **told}

    def _action_primary(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """No address takes the place of another by being named: its letter has to come back."""
