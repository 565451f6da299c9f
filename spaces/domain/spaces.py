from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.times import zone
from spaces.models import Space


def create_space(
    actor: Actor,
    *,
    name: str,
    slug: str | None = None,
    description: str = "",
    time_zone: str = "UTC",
    visibility: str = "account",
) -> Space:
    """A new, empty space. The slug is made from the name unless given."""
    if not actor.has(Right.MANAGE):
        raise Forbidden("Creating a space needs the role owner or admin.")
    chosen = slug or slugify(name)
    if not name.strip() or not chosen:
        raise ValidationFailed({"name": ["Give a name with at least one letter or digit."]})
    zone(time_zone)
    try:
        with transaction.atomic():
            space = Space.objects.create(
                account_id=actor.account_id,
                name=name.strip(),
                slug=chosen,
                description=description,
                time_zone=time_zone,
                visibility=visibility,
            )
            record_event(actor, "space.created", "space", typed_id("spc", space.id), space_id=space.id)
    except IntegrityError as error:
        raise Conflict("A space with this slug exists already.") from error
    return space
