"""Dreams have a lane of their own, since a model takes its time."""

from datetime import timedelta

from accounts.domain.jobs import Lane

DREAMING = Lane("dreams", task="spaces.tasks.dream", lease=timedelta(minutes=15))

THINK = "think_dream"
"""In that lane: a run waits for the configured model."""
CLUSTER = "cluster_space"
"""In that lane: near-identical memories of a space are to be looked for."""
LOOK = "look_dreams"
"""In the main lane: which spaces of an account are to dream?"""
