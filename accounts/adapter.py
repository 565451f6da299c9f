from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People join by invitation only."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
