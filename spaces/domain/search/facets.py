"""What a set of memories can be narrowed by, with how many each choice leaves."""

from dataclasses import dataclass

from django.db.models import Count, F, Func, TextField

from accounts.actor import Actor
from spaces.domain.search.filters import SearchFilters, matching
from spaces.models.memories import MemoryQuerySet

MOST = 12


@dataclass(frozen=True)
class Choice:
    value: str
    count: int


@dataclass(frozen=True)
class Facets:
    """Each by falling count; tags and subjects only the most frequent ones."""

    kinds: list[Choice]
    tiers: list[Choice]
    origins: list[Choice]
    tags: list[Choice]
    subjects: list[Choice]


def count_facets(actor: Actor, filters: SearchFilters) -> Facets:
    memories = matching(actor, filters)
    each_tag = memories.annotate(tag=Func(F("tags"), function="unnest", output_field=TextField()))
    return Facets(
        kinds=_counted(memories, "kind"),
        tiers=_counted(memories, "tier"),
        origins=_counted(memories, "origin"),
        tags=_counted(each_tag, "tag"),
        subjects=_counted(memories.exclude(subject=""), "subject"),
    )


def _counted(memories: MemoryQuerySet, field: str) -> list[Choice]:
    counted = memories.order_by().values_list(field).annotate(n=Count("id")).order_by("-n", field)[:MOST]
    return [Choice(value, n) for value, n in counted]
