"""Python's collector of cycles, for processes that stay."""

import gc

YOUNG = 20_000
"""Objects that are made before it looks at them; 700 is its default."""


def settle_in() -> None:
    """To be called once all is loaded: that is then never looked through again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)
