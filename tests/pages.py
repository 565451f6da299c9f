"""What tests of pages share: a browser's client for each of the cast."""

from typing import Any

from django.http import HttpResponse
from django.test import Client

from accounts.actor import Actor
from accounts.models import User
from accounts.views.fresh import JOINED_AT

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
SPACE = "/a/acme/main"


def browser_of(person: Actor, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(User.objects.get(id=person.user_id), BACKEND)
    return client


def freshly_signed_in(person: Actor, at: float) -> Client:
    client = browser_of(person)
    session = client.session
    session[JOINED_AT] = at
    session.save()
    return client


def text_of(answer: HttpResponse) -> str:
    return answer.content.decode()
