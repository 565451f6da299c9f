"""The jobs that send: a lane of their own, worked off without a transaction while somebody else thinks."""

from datetime import timedelta

from accounts.domain.jobs import Lane

DELIVER, MAIL, SLACK, WEBHOOK_OFF = "deliver", "mail", "slack", "webhook_off"
NOTICES = Lane("notices", task="actions.tasks.send_notices", lease=timedelta(seconds=90))
"""The lease is longer than a sending takes. Where it isn't, a second worker finds begun what it would begin."""

TELL_PEOPLE = "tell_people"
PURGE = "purge_notices"
