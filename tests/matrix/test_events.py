"""Whatever is done by whatever way, what the chain keeps of it are ids and types, and no word of anybody's."""

import re

import pytest

from accounts.models import Event
from memoryhub.common.tenancy import tenant
from tests.matrix.asking import as_tool
from tests.matrix.operations import OPERATIONS, filled
from tests.matrix.pages import PAGES
from tests.matrix.test_pages import sent
from tests.matrix.world import World, undone

pytestmark = pytest.mark.django_db

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
ROLES = "(?:none|owner|admin|approver|member|viewer)"
FORMS = {
    "type": r"[a-z_]+\.[a-z_]+",
    "actor": rf"(?:person|key|grant|staff):{UUID}|system:system",
    "object_type": r"[a-z_]+",
    "object_id": rf"[a-z]{{3}}_[0-9a-f]{{32}}|{UUID}",
    "summary": rf"|\d+ rows|by staff of the installation|by_hand|{ROLES} to {ROLES}|visible to (?:account|members)",
}


def test_no_event_of_any_operation_or_page_holds_a_word_of_what_it_is_about(world: World) -> None:
    said: set[tuple[str, str]] = set(kept(world))
    for name, declared in OPERATIONS.items():
        with undone():
            as_tool(world, world.knockers["key of the owner"], name, filled(declared.call, world.ours.ids))
            said |= set(kept(world))
    for page in (page for page in PAGES.values() if page.post):
        with undone():
            sent(world.browser("owner"), page, "post", world.ours.ids)
            said |= set(kept(world))
    assert [(c, v) for c, v in sorted(said) if not re.fullmatch(FORMS[c], v)] == []
    assert len({value for column, value in said if column == "type"}) > 40


def kept(world: World) -> list[tuple[str, str]]:
    with tenant(world.ours.account.id):
        return [(column, value) for row in Event.objects.values(*FORMS) for column, value in row.items()]
