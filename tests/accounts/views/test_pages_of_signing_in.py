"""Every page that allauth serves is one of ours: found by walking its addresses, each in the state that shows it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.urls import urlpatterns
from django.conf import settings
from django.http import HttpResponse
from django.template.loader import get_template
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from accounts.models import User
from tests.accounts.views.test_signing_in import set_up
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of

pytestmark = pytest.mark.django_db

OURS = Path(settings.BASE_DIR) / "templates"
PASSWORD = "correct horse battery"


def names(patterns: list[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from names(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield pattern.name


def person(cast: Cast) -> User:
    return User.objects.get(id=cast.teammate.user_id)


def signed_in(name: str, **arguments: Any) -> Callable[[Cast], HttpResponse]:
    def shown(cast: Cast) -> HttpResponse:
        return freshly_signed_in(cast.teammate, time.time()).get(reverse(name, kwargs=arguments))

    return shown


def at_the_door(name: str, **arguments: Any) -> Callable[[Cast], HttpResponse]:
    return lambda cast: Client().get(reverse(name, kwargs=arguments))


def with_second_step(name: str) -> Callable[[Cast], HttpResponse]:
    def shown(cast: Cast) -> HttpResponse:
        client = second_step(cast)
        return client.get(reverse(name))

    return shown


def second_step(cast: Cast) -> Client:
    client = freshly_signed_in(cast.teammate, time.time())
    set_up(client)
    return client


def with_passkey(name: str, **arguments: Any) -> Callable[[Cast], HttpResponse]:
    def shown(cast: Cast) -> HttpResponse:
        key = Authenticator.objects.create(
            user=person(cast), type="webauthn", data={"name": "Laptop", "credential": {}}
        )
        client = freshly_signed_in(cast.teammate, time.time())
        return client.get(reverse(name, kwargs={"pk": key.pk} if arguments else {}))

    return shown


def long_ago(name: str) -> Callable[[Cast], HttpResponse]:
    """Of who signed in ten minutes ago, with a second step."""

    def shown(cast: Cast) -> HttpResponse:
        second_step(cast)
        client = browser_of(cast.teammate)
        with time_machine.travel(time.time() + 600):
            return client.get(reverse(name))

    return shown


def in_the_second_step(cast: Cast) -> HttpResponse:
    second_step(cast)
    client = Client()
    client.post(reverse("account_login"), {"login": person(cast).email, "password": PASSWORD})
    return client.get(reverse("mfa_authenticate"))


def with_link(cast: Cast) -> HttpResponse:
    token = default_token_generator.make_token(person(cast))
    address = reverse(
        "account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(person(cast)), "key": token}
    )
    return Client().get(address, follow=True)


def with_letter(cast: Cast) -> HttpResponse:
    address = EmailAddress.objects.create(user=person(cast), email="new@acme.example")
    return Client().get(reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key]))


def without_password(cast: Cast) -> HttpResponse:
    User.objects.filter(id=cast.teammate.user_id).update(password="!")
    return freshly_signed_in(cast.teammate, time.time()).get(reverse("account_set_password"))


SHOWN: dict[str, Callable[[Cast], HttpResponse]] = {
    "account_login": at_the_door("account_login"),
    "account_logout": signed_in("account_logout"),
    "account_inactive": at_the_door("account_inactive"),
    "account_signup": at_the_door("account_signup"),
    "account_reauthenticate": signed_in("account_reauthenticate"),
    "account_email": signed_in("account_email"),
    "account_email_verification_sent": at_the_door("account_email_verification_sent"),
    "account_confirm_email": with_letter,
    "account_change_password": signed_in("account_change_password"),
    "account_set_password": without_password,
    "account_reset_password": at_the_door("account_reset_password"),
    "account_reset_password_done": at_the_door("account_reset_password_done"),
    "account_reset_password_from_key": with_link,
    "account_reset_password_from_key_done": at_the_door("account_reset_password_from_key_done"),
    "mfa_index": signed_in("mfa_index"),
    "mfa_authenticate": in_the_second_step,
    "mfa_reauthenticate": long_ago("mfa_reauthenticate"),
    "mfa_activate_totp": signed_in("mfa_activate_totp"),
    "mfa_deactivate_totp": with_second_step("mfa_deactivate_totp"),
    "mfa_view_recovery_codes": with_second_step("mfa_view_recovery_codes"),
    "mfa_generate_recovery_codes": with_second_step("mfa_generate_recovery_codes"),
    "mfa_list_webauthn": with_passkey("mfa_list_webauthn"),
    "mfa_add_webauthn": signed_in("mfa_add_webauthn"),
    "mfa_edit_webauthn": with_passkey("mfa_edit_webauthn", pk=1),
    "mfa_remove_webauthn": with_passkey("mfa_remove_webauthn", pk=1),
    "usersessions_list": signed_in("usersessions_list"),
}
NO_PAGES = {
    "mfa_download_recovery_codes": "a file",
    "mfa_login_webauthn": "answers scripts",
    "mfa_reauthenticate_webauthn": "needs the credential of a real key",
    "account_confirm_login_code": "signing in by a code from a letter is off",
    "account_request_reauthentication_code": "likewise",
    "account_confirm_reauthentication_code": "likewise",
}


def test_every_address_is_looked_at() -> None:
    assert set(names(urlpatterns)) == SHOWN.keys() | NO_PAGES.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_each_is_a_page_of_ours_in_our_layout(cast: Cast, name: str) -> None:
    answer = SHOWN[name](cast)
    assert answer.status_code == 200
    assert Path(answer.templates[0].origin.name).is_relative_to(OURS), "write a template of our own"
    assert "layouts/solo.html" in [template.name for template in answer.templates]
    text = text_of(answer)
    assert text.count("<h1") == 1
    assert "<p><form" not in text
    assert 'class="solo"' in text


def test_so_is_the_one_for_a_passkey() -> None:
    template: Any = get_template("mfa/webauthn/reauthenticate.html")
    assert Path(template.origin.name).is_relative_to(OURS)


@pytest.mark.parametrize("key", ["1-no-key", "nobody-x"])
def test_a_used_up_link_says_where_to_get_another(cast: Cast, key: str) -> None:
    page = text_of(Client().get(f"/accounts/password/reset/key/{key}/"))
    assert "This link is used up" in page
    assert reverse("account_reset_password") in page


def test_who_has_two_steps_is_offered_the_other_way_to_show_who_they_are(cast: Cast) -> None:
    page = text_of(long_ago("account_reauthenticate")(cast))
    assert f'href="{reverse("mfa_reauthenticate")}' in page
