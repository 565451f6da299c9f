class SetupError(Exception):
    """The machine, the data directory or the options keep Memory Hub from running.

    The message is written for the person at the terminal: what is wrong, then what to do about it.
    """
