"""Jobs of embedding have a lane of their own, since they wait for a server outside the hub."""

from datetime import timedelta

from accounts.domain.jobs import Lane

EMBEDDING = Lane("embedding", task="spaces.tasks.embed_pending", lease=timedelta(seconds=8))

EMBED = "embed_memory"
"""In that lane: the memory has no vectors of its text yet."""
COVER = "embed_account"
"""In that lane: memories of the account may lack vectors of a wanted model."""
DISCARD = "discard_vectors"
"""In the main lane: vectors of retired models are to go from the account."""
