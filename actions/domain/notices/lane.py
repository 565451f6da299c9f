"""The jobs that send: a lane of their own, worked off without a transaction while somebody else thinks."""

from datetime import timedelta

from accounts.domain.jobs import Lane

DELIVER, MAIL, WEBHOOK_OFF = "deliver", "mail", "webhook_off"
NOTICES = Lane("notices", task="actions.tasks.send_notices", lease=timedelta(seconds=90))
"""The lease is longer than any sending may take."""

TELL_PEOPLE = "tell_people"
PURGE = "purge_notices"
