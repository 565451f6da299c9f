"""How webhooks leave: what each is told of and how it stands, without its address and its secret.

They don't arrive anywhere: a receiver there would have no secret to check by.
"""

from collections.abc import Iterator

from accounts.actor import Actor
from actions.models import Webhook
from memoryhub.common.ids import typed_id
from memoryhub.common.times import format_time
from spaces.domain.kinds import Kind, Row, in_batches, register_kind
from spaces.models import Space


def export(actor: Actor, space: Space | None) -> Iterator[Row]:
    """Those of all spaces are the account's own."""
    rows = Webhook.objects.filter(account_id=actor.account_id, space=space)
    yield from map(_row, in_batches(rows))


def _row(webhook: Webhook) -> Row:
    return {
        "id": webhook.uid,
        "name": webhook.name,
        "host": webhook.host,
        "events": webhook.events,
        "off": webhook.off,
        "made_by": typed_id("usr", webhook.made_by_id),
        "created_at": format_time(webhook.created_at),
        "updated_at": format_time(webhook.updated_at),
    }


WEBHOOKS = register_kind(Kind(prefix="whk", model_label="actions.Webhook", export=export))
"""Nobody forgets one by what it says: it is removed on its page. What was sent names actions by their ids alone."""
