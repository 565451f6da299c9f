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
    return heading(said_at=said_at, zone=zone, actor=actor, space=space, tags=tags, subject=subject) + text


def heading(
    *, said_at: datetime, zone: tzinfo, actor: str, space: str, tags: Iterable[str], subject: str
) -> str:
    """All that comes before the text; each piece of a long text has it."""
    day = said_at.astimezone(zone)
    labels = "; ".join(filter(None, [space, ", ".join(tags)]))
    about = " ".join(filter(None, [actor, f"({labels})" if labels else ""]))
    date = f"[{day:%A} {day.day} {day:%B} {day.year}] "
    return date + (f"{about}: " if about else "") + (f"{subject}. " if subject else "")
