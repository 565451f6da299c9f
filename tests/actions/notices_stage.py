"""What tests of notices share."""

import socket
from datetime import timedelta
from typing import Any

from django.core import mail
from django.db import connection
from django.utils import timezone

import accounts.tasks  # noqa: F401 (the handlers of the main lane)
import actions.tasks  # noqa: F401
from accounts.domain.jobs import run_due_jobs
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection
from actions.domain.notices.telling import EVENTS
from actions.domain.notices.webhooks import NewSecret, Wish, create_webhook
from actions.domain.notices.working import work_off_notices
from actions.models import Action, Delivery
from tests.actions.stage import propose
from tests.conftest import Cast


def hook(cast: Cast, url: str = "https://ci.example/hub?token=abc", **fields: Any) -> NewSecret:
    given = {"name": "CI", "url": url, "events": EVENTS, **fields}
    return create_webhook(cast.owner, Wish(**given))


def noting_what_is_held(monkeypatch: Any) -> list[bool]:
    """For each call to this machine from now on: whether a connection to the database is held meanwhile."""
    held: list[bool] = []
    real = socket.getaddrinfo

    def look_up(*args: Any, **kwargs: Any) -> Any:
        if args[0] == "127.0.0.1":
            held.append(connection.connection is not None)
        return real(*args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return held


def only_delivery() -> Delivery:
    return Delivery.objects.select_related("webhook").get()


def pass_time(clock: Any, much: timedelta = timedelta(minutes=3)) -> list[Any]:
    """Everything that is due until then is done. Answers the letters that went meanwhile."""
    before = len(mail.outbox)
    end = timezone.now() + much
    while timezone.now() < end:
        clock.shift(min(timedelta(seconds=10), end - timezone.now()))
        run_due_jobs()
        work_off_notices()
    return mail.outbox[before:]


def quickly(clock: Any, much: timedelta) -> list[Any]:
    """The same for long times."""
    pass_time(clock)
    before = len(mail.outbox)
    clock.shift(much)
    run_due_jobs()
    work_off_notices()
    return mail.outbox[before:]


REPLY: dict[str, Any] = {
    "class_name": "gmail.reply",
    "payload": {"thread_id": "1a", "to": ["ann@rival.example"], "body": "Hi", "subject": "Re: x"},
}


def risky(cast: Cast) -> Action:
    """What is sent outside and can't be taken back."""
    add_connection(cast.owner, "google", Tokens("token"), Identity("me@acme.example", "me@acme.example"))
    return propose(cast.agent, **REPLY).action
