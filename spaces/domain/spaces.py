from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import Conflict, Forbidden, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.common.naming import check_naming
from memoryhub.common.secrets.policy import POLICIES
from memoryhub.common.times import zone
from spaces.domain.access import SLUG, access_space
from spaces.domain.checks import KIB, check_json, check_length, check_name
from spaces.domain.due import move_due_days
from spaces.domain.records import COLLECTION, STATUS
from spaces.domain.renewing import space_changed
from spaces.domain.versions import check_version
from spaces.models import Space
from spaces.models.spaces import CAPTURE_MODES, DREAM_MODES, VISIBILITIES

TAKEN_SLUGS = frozenset(
    ["audit", "connect", "connections", "keys", "members", "notifications", "settings", "spaces", "webhooks"]
)
"""Pages of the team have their addresses where those of its spaces begin."""
SLUG_LENGTH, DESCRIPTION_LENGTH = 64, 1000
MOST_DAYS = 365
FEWEST_HOURS, MOST_HOURS = 6, 24 * 90
CLOSED_BYTES = 16 * KIB


def check_may_create_spaces(actor: Actor) -> None:
    if not actor.has(Right.MANAGE):
        raise Forbidden("Creating a space needs the role owner or admin.")


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
    check_may_create_spaces(actor)
    name = check_naming(name)
    check_length(description, DESCRIPTION_LENGTH, "description")
    chosen = _slug(name, slug or "")
    zone(time_zone)
    if visibility not in VISIBILITIES:
        raise ValidationFailed({"visibility": [f"Must be one of {', '.join(VISIBILITIES)}."]})
    try:
        with transaction.atomic():
            space = Space.objects.create(
                account_id=actor.account_id,
                name=name,
                slug=chosen,
                description=description,
                time_zone=time_zone,
                visibility=visibility,
            )
            record_event(actor, "space.created", "space", typed_id("spc", space.id), space_id=space.id)
    except IntegrityError as error:
        raise Conflict("A space with this slug exists already.") from error
    return space


def _slug(name: str, given: str) -> str:
    slug = given.strip() or slugify(name)[:SLUG_LENGTH].rstrip("-_")
    if not slug:
        raise ValidationFailed(
            {"slug": ["None can be made of this name. Give one of small letters, digits and hyphens."]}
        )
    if not SLUG.fullmatch(slug):
        raise ValidationFailed(
            {
                "slug": [
                    "Must have only small letters, digits, `-` and `_`, begin with no sign, and be at most 64 long."
                ]
            }
        )
    if slug in TAKEN_SLUGS:
        raise ValidationFailed({"slug": [f"/{slug}/ is the address of a page. Choose another slug."]})
    return slug


@dataclass(frozen=True)
class Settings:
    """What a change of settings asks for; None leaves a setting as it is.

    `closed_statuses` is collection → the statuses that close its records; a collection that isn't named in it
    keeps to those that close everywhere. `dream_mode` says who thinks in dreams, if anybody; with `dream_review`
    their changes wait for a person; `dream_hours` are those between two dreams.
    """

    name: str | None = None
    description: str | None = None
    time_zone: str | None = None
    scratch_days: int | None = None
    closed_statuses: Mapping[str, Sequence[str]] | None = None
    secret_policy: str | None = None
    dream_mode: str | None = None
    dream_review: bool | None = None
    dream_hours: int | None = None
    capture_mode: str | None = None


def update_space(
    actor: Actor, settings: Settings, *, expected_version: int | None = None, space: str | UUID | None = None
) -> Space:
    """What changes nothing raises no version."""
    within = access_space(actor, space, right=Right.MANAGE)
    changes = _checked(settings)
    with transaction.atomic():
        stored = Space.objects.select_for_update(no_key=True).get(account_id=within.account_id, id=within.id)
        check_version(stored, expected_version, "space")
        changes = {name: value for name, value in changes.items() if getattr(stored, name) != value}
        if changes:
            _save(actor, stored, changes)
    return stored


def _checked(settings: Settings) -> dict[str, Any]:
    changes = {name: value for name, value in asdict(settings).items() if value is not None}
    if settings.name is not None:
        changes["name"] = check_naming(settings.name)
    check_length(settings.description or "", DESCRIPTION_LENGTH, "description")
    if settings.time_zone is not None:
        zone(settings.time_zone)
    if settings.scratch_days is not None and not 1 <= settings.scratch_days <= MOST_DAYS:
        raise ValidationFailed({"scratch_days": [f"Must be 1 to {MOST_DAYS}."]})
    if settings.secret_policy is not None and settings.secret_policy not in POLICIES:
        raise ValidationFailed({"secret_policy": [f"Must be one of {', '.join(POLICIES)}."]})
    if settings.dream_mode is not None and settings.dream_mode not in DREAM_MODES:
        raise ValidationFailed({"dream_mode": [f"Must be one of {', '.join(DREAM_MODES)}."]})
    if settings.dream_hours is not None and not FEWEST_HOURS <= settings.dream_hours <= MOST_HOURS:
        raise ValidationFailed({"dream_interval_hours": [f"Must be {FEWEST_HOURS} to {MOST_HOURS}."]})
    if settings.capture_mode is not None and settings.capture_mode not in CAPTURE_MODES:
        raise ValidationFailed({"capture_mode": [f"Must be one of {', '.join(CAPTURE_MODES)}."]})
    for collection, statuses in (settings.closed_statuses or {}).items():
        check_name(collection, COLLECTION, "closed_statuses")
        for status in statuses:
            check_name(status, STATUS, f"closed_statuses.{collection}")
    check_json(settings.closed_statuses, CLOSED_BYTES, "closed_statuses")
    return changes


def _save(actor: Actor, space: Space, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        setattr(space, name, value)
    space.version += 1
    space.save(update_fields=[*changes, "version"])
    if "time_zone" in changes:
        move_due_days(space)
    if changes.keys() & {"name", "time_zone"}:
        space_changed(space)
    record_event(actor, "settings.updated", "space", typed_id("spc", space.id), space_id=space.id)
