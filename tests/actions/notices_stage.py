"""What tests of notices share."""

from typing import Any

from actions.domain.notices.telling import EVENTS
from actions.domain.notices.webhooks import NewSecret, Wish, create_webhook
from actions.models import Delivery
from tests.conftest import Cast


def hook(cast: Cast, url: str = "https://ci.example/hub?token=abc", **fields: Any) -> NewSecret:
    given = {"name": "CI", "url": url, "events": EVENTS, **fields}
    return create_webhook(cast.owner, Wish(**given))


def only_delivery() -> Delivery:
    return Delivery.objects.select_related("webhook").get()
