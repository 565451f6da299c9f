"""The jobs that send: a lane of their own, worked off without a transaction while somebody else thinks."""

from datetime import timedelta

from accounts.domain.jobs import Lane

DELIVER, MAIL, SLACK, WEBHOOK_OFF = "deliver", "mail", "slack", "webhook_off"
NOTICES = Lane("notices", task="actions.tasks.send_notices", lease=timedelta(seconds=90))
"""The lease is longer than a message to a webhook or a letter may take; whoever takes longer keeps it up."""

TELL_PEOPLE = "tell_people"
PURGE = "purge_notices"
