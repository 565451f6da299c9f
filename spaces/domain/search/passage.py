"""What of a memory is searched: one text, the same for words and for meaning."""

from collections.abc import Iterable
from datetime import datetime, tzinfo

# Raise it with the form below: whatever was derived from the older one is then rebuilt.
TEMPLATE_VERSION = 1


def passage(
    text: str,
    *,
    said_at: datetime,
    zone: tzinfo,
    actor: str = "",
    space: str = "",
    tags: Iterable[str] = (),
    subject: str = "",
) -> str:
    """`[Monday 8 May 2023] actor (space; tags): subject. text`, without what is empty."""
    day = said_at.astimezone(zone)
    labels = "; ".join(filter(None, [space, ", ".join(tags)]))
    about = " ".join(filter(None, [actor, f"({labels})" if labels else ""]))
    said = f"{subject}. {text}" if subject else text
    date = f"[{day:%A} {day.day} {day:%B} {day.year}]"
    return f"{date} {about}: {said}" if about else f"{date} {said}"
