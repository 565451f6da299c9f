"""The jobs of actions that wait for a vendor: a lane of their own, worked off without a transaction meanwhile."""

from datetime import timedelta

from django.conf import settings

from accounts.domain.jobs import Lane

RUN, PREPARE, TEND = "run_action", "prepare_action", "tend_connection"
ACTIONS = Lane(
    "actions", task="actions.tasks.carry_out", lease=timedelta(seconds=settings.ACTION_LEASE_SECONDS)
)
"""The lease is longer than any call may take: whose lease is over is gone, or its call is."""
