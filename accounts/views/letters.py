"""What pages know about letters: whether this hub can send any."""

from django.http import HttpRequest

from accounts.domain.addresses import mail_is_sent


def letters(request: HttpRequest) -> dict[str, object]:
    """Context processor."""
    return {"sends_letters": mail_is_sent()}
