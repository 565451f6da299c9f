from accounts.models import User


def choose_shortcuts(user: User, *, on: bool) -> None:
    """Single-letter keyboard shortcuts, for this person everywhere."""
    user.shortcuts = on
    user.save(update_fields=["shortcuts"])
