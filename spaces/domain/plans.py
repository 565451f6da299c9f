"""Plans: documents of which every version is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actor import Actor
from accounts.domain.events import record_event
from accounts.scopes import Right
from memoryhub.common.errors import NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.paging import Page, page_of
from memoryhub.common.text import nfc
from spaces.domain.access import access_space, require_right
from spaces.domain.checks import KIB, check_json, check_length, check_visible
from spaces.domain.unified import unified_diff
from spaces.domain.versions import check_version
from spaces.models import Plan, PlanVersion, Space
from spaces.models.plans import PLAN_STATUSES, PLAN_TYPES, PlanQuerySet

TITLE_LENGTH = 200
CONTENT_LENGTH = 200_000
TAGS, TAG_LENGTH = 20, 50
METADATA_BYTES = 16 * KIB
LATEST_FIRST = ("-updated_at", "-id")
FIELDS = ("title", "content", "tags", "metadata", "type", "status")

Ref = str | UUID | None


@dataclass(frozen=True)
class Changes:
    """What a write asks for. None leaves a field as it is."""

    title: str | None = None
    content: str | None = None
    tags: Iterable[str] | None = None
    metadata: Mapping[str, Any] | None = None
    type: str | None = None
    status: str | None = None


@dataclass(frozen=True)
class Wanted:
    """Which plans are listed. Empty means any."""

    tag: str = ""
    type: str = ""
    status: str = ""


def create_plan(
    actor: Actor, title: str, content: str, changes: Changes = Changes(), *, space: Ref = None
) -> Plan:
    """`changes` are the other fields."""
    within = access_space(actor, space, right=Right.WRITE)
    now = timezone.now()
    plan = Plan(
        account_id=within.account_id, space=within, written_by=actor.key, created_at=now, updated_at=now
    )
    _apply(plan, changes)
    _apply(plan, Changes(title=title, content=content))
    with transaction.atomic():
        plan.save(force_insert=True)
        _keep(plan, before=None)
        _record(actor, "plan.created", plan)
    return plan


def update_plan(
    actor: Actor, id: str | UUID, changes: Changes, *, expected_version: int | None = None
) -> Plan:
    """Every update is a version, also one that changes nothing. Of several at once, one comes after the other."""
    with transaction.atomic():
        plan = _lock(actor, id)
        check_version(plan, expected_version, "plan")
        before = state(plan)
        _apply(plan, changes)
        plan.version += 1
        plan.written_by, plan.updated_at = actor.key, timezone.now()
        plan.save(update_fields=[*FIELDS, "version", "written_by", "updated_at"])
        _keep(plan, before)
        _record(actor, "plan.updated", plan)
    return plan


def restore_plan(actor: Actor, id: str | UUID, number: int, *, expected_version: int | None = None) -> Plan:
    """What an earlier version says, as a new version."""
    earlier = access_version(actor, id, number)
    return update_plan(actor, id, Changes(**earlier.data), expected_version=expected_version)


def delete_plan(actor: Actor, id: str | UUID, *, expected_version: int | None = None) -> Plan:
    """Gone with its versions."""
    with transaction.atomic():
        plan = _lock(actor, id)
        check_version(plan, expected_version, "plan")
        _record(actor, "plan.deleted", plan)
        Plan.objects.filter(account_id=plan.account_id, id=plan.id).delete()
    return plan


def access_plan(actor: Actor, id: str | UUID) -> Plan:
    return _found(Plan.objects.visible_to(actor), id)


def access_version(actor: Actor, id: str | UUID, number: int) -> PlanVersion:
    plan = access_plan(actor, id)
    version = PlanVersion.objects.filter(account_id=plan.account_id, plan=plan, version=number).first()
    if version is None:
        raise NotFound("plan")
    return version


def list_plans(
    actor: Actor, wanted: Wanted = Wanted(), *, limit: int = 50, cursor: str | None = None, space: Ref = None
) -> Page[Plan]:
    """Last changed first, without their content."""
    within = access_space(actor, space)
    return page_of(
        _matching(within, wanted).defer("content"),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "plans", "space": within.id, **asdict(wanted)},
        order=LATEST_FIRST,
        field="cursor",
    )


def list_plan_versions(
    actor: Actor, id: str | UUID, *, limit: int = 50, cursor: str | None = None
) -> Page[PlanVersion]:
    """All of them, newest first, the one in force included."""
    plan = access_plan(actor, id)
    return page_of(
        PlanVersion.objects.filter(account_id=plan.account_id, plan=plan),
        token=cursor,
        size=limit,
        actor_key=actor.key,
        filters={"list": "plan versions", "plan": plan.id},
        order=("-version", "-id"),
        field="cursor",
    )


def state(plan: Plan) -> dict[str, Any]:
    """The fields that people and agents give, as plain JSON: what a version keeps."""
    return {name: getattr(plan, name) for name in FIELDS}


def _matching(within: Space, wanted: Wanted) -> PlanQuerySet:
    plans: PlanQuerySet = Plan.objects.inside(within)
    if wanted.tag:
        plans = plans.filter(tags__contains=[nfc(wanted.tag)])
    if wanted.type:
        plans = plans.filter(type=wanted.type)
    return plans.filter(status=wanted.status) if wanted.status else plans


def _apply(plan: Plan, changes: Changes) -> None:
    for name, value in changes.__dict__.items():
        if value is not None:
            setattr(plan, name, CLEANERS[name](value))


def _title(value: str) -> str:
    check_visible(value, "title")
    check_length(value.strip(), TITLE_LENGTH, "title")
    return value.strip()


def _content(value: str) -> str:
    check_visible(value, "content")
    check_length(value, CONTENT_LENGTH, "content")
    return value


def _tags(value: Iterable[str]) -> list[str]:
    tags = list(dict.fromkeys(nfc(tag.strip()) for tag in value))
    if len(tags) > TAGS:
        raise ValidationFailed({"tags": [f"Must have at most {TAGS} items. Send fewer."]})
    for index, tag in enumerate(tags):
        check_visible(tag, f"tags[{index}]")
        check_length(tag, TAG_LENGTH, f"tags[{index}]")
    return tags


def _metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    check_json(value, METADATA_BYTES, "metadata")
    return dict(value)


def _type(value: str) -> str:
    return _one_of(value, PLAN_TYPES, "type")


def _status(value: str) -> str:
    return _one_of(value, PLAN_STATUSES, "status")


def _one_of(value: str, names: tuple[str, ...], field: str) -> str:
    if value not in names:
        raise ValidationFailed({field: [f"Must be one of {', '.join(names)}."]})
    return value


CLEANERS: dict[str, Any] = {
    "title": _title,
    "content": _content,
    "tags": _tags,
    "metadata": _metadata,
    "type": _type,
    "status": _status,
}


def _keep(plan: Plan, before: Mapping[str, Any] | None) -> None:
    """The version that the plan is at now, with what it changed."""
    now = state(plan)
    PlanVersion.objects.create(
        account_id=plan.account_id,
        plan=plan,
        version=plan.version,
        data=now,
        diff=unified_diff(before["content"], plan.content) if before else "",
        changed=what_changed(before, now) if before else [],
        written_by=plan.written_by,
        written_at=plan.updated_at,
    )


def what_changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of the fields, but for the content, of which there is a diff."""
    return [name for name in FIELDS if name != "content" and before[name] != now[name]]


def _lock(actor: Actor, id: str | UUID) -> Plan:
    """The plan, which the actor may change, until the transaction ends."""
    plan = _found(Plan.objects.visible_to(actor).select_for_update(of=("self",), no_key=True), id)
    require_right(actor, plan.space, Right.WRITE)
    return plan


def _found(plans: PlanQuerySet, id: str | UUID) -> Plan:
    plan = plans.select_related("space").filter(id=parse_id("pln", id)).first()
    if plan is None:
        raise NotFound("plan")
    return plan


def _record(actor: Actor, type: str, plan: Plan) -> None:
    record_event(actor, type, "plan", typed_id("pln", plan.id), space_id=plan.space_id)
