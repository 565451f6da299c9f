"""What a person chooses for themselves, in every team at once."""

from django.db import transaction

from accounts.domain.accounts import accounts_of, member_actor
from accounts.domain.events import record_event
from accounts.models import User
from memoryhub.common.ids import typed_id
from memoryhub.common.naming import check_naming
from memoryhub.common.tenancy import tenant
from memoryhub.common.times import zone

AS_THE_BROWSER = "UTC"


def choose_shortcuts(user: User, *, on: bool) -> None:
    """Single-letter keyboard shortcuts."""
    user.shortcuts = on
    user.save(update_fields=["shortcuts"])


def choose_time_zone(user: User, name: str) -> None:
    """Which zone times are shown in; "" is that of the browser."""
    user.time_zone = zone(name, "time_zone").key if name else AS_THE_BROWSER
    user.save(update_fields=["time_zone"])


def rename_person(user: User, name: str) -> None:
    """Each of their teams gets an event, since each sees them under it."""
    name = check_naming(name)
    if user.name == name:
        return
    with transaction.atomic():
        user.name = name
        user.save(update_fields=["name"])
        for account in accounts_of(user):
            with tenant(account.id):
                actor = member_actor(user.id, account.id)
                record_event(actor, "member.renamed", "person", typed_id("usr", user.id))
