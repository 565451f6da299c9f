"""With every filter by account taken out of the application's SQL, row-level security alone lets nothing of another
team out, and nothing of it be touched: over REST, by tools, on pages, in jobs and in exports."""

import io
import zipfile

import pytest
from django.apps import apps

from accounts.domain.events import record_event, seal_events
from accounts.models import Event, Tenant
from memoryhub.common.tenancy import tenant
from memoryhub.flows.export import open_export, stream_export
from memoryhub.operations.base import REGISTRY
from tests.matrix.asking import Way, as_tool, over_rest
from tests.matrix.operations import OPERATIONS, filled
from tests.matrix.pages import PAGES
from tests.matrix.test_pages import sent
from tests.matrix.test_rows import counted, sql
from tests.matrix.world import OURS, THEIRS, World, undone
from tests.unfiltered import stripped, take_filters_out

pytestmark = pytest.mark.django_db

TABLES = sorted(m._meta.db_table for m in apps.get_models() if issubclass(m, Tenant))
WAYS = {"a tool": as_tool, "REST": over_rest}
ROUTED = {o.name for o in REGISTRY.all() if o.route}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return take_filters_out(monkeypatch.setattr)


def test_filters_are_recognised_however_they_are_written() -> None:
    kept = 'update "spaces_memory" set "account_id" = %s where "spaces_memory"."id" = %s'
    assert stripped(kept) == (kept, 0)
    lost = [
        'select 1 from "spaces_memory" where ("spaces_memory"."account_id" = %s and "spaces_memory"."id" = %s)',
        "select s.* from spaces_space s where s.account_id = %(account)s and s.id = %(id)s",
        "delete from spaces_space where account_id = %s and id = %s",
    ]
    for text in lost:
        found, many = stripped(text)
        assert (many, "account_id =" in found, text.count("%")) == (1, False, found.count("%"))


@pytest.mark.parametrize("way", WAYS)
def test_no_operation_tells_or_touches_a_row_of_another_team(
    world: World, taken: list[int], way: str
) -> None:
    told, touched, asked = [], [], 0
    for name, declared in OPERATIONS.items():
        if WAYS[way] is over_rest and name not in ROUTED:
            continue
        with undone():
            before = state_of(world) if declared.names_an_id else None
            _outcome, text = ask(world, name, WAYS[way])
            asked += 1
            if OURS in text:
                told.append(name)
            if before is not None and state_of(world) != before:
                touched.append(name)
    print(f"{asked} operations asked by {way}, {taken[0]} filters taken out; foreign rows: {len(told)}")
    assert (told, touched) == ([], [])
    assert taken[0] > asked


def ask(world: World, name: str, way: Way) -> tuple[str, str]:
    arguments = filled(OPERATIONS[name].call, world.ours.ids)
    asking = {key: value for key, value in arguments.items() if value != OURS} | {
        key: "grows" for key, value in arguments.items() if value == OURS
    }
    return way(world, world.knockers["outsider"], name, asking)


def state_of(world: World) -> list[tuple[object, ...]]:
    """Of what is ours: seen by us, in an account of our own."""
    with tenant(world.ours.account.id):
        return [
            row
            for table in ("spaces_memory", "spaces_record", "spaces_plan", "actions_action")
            for row in rows(table)
        ]


def rows(table: str) -> list[tuple[object, ...]]:
    return sql(f"select id, xmin::text from {table} order by id")


def test_no_page_of_a_team_shows_what_is_of_another(world: World, taken: list[int]) -> None:
    ours = {**world.ours.ids, "account": world.theirs.account.slug}
    shown = []
    for name, page in PAGES.items():
        if page.get and page.address.startswith("/a/"):
            with undone():
                answer = sent(world.browser("person of another team"), page, "get", ours)
            assert answer.status_code < 500, name
            if OURS in getattr(answer, "content", b"").decode():
                shown.append(name)
    assert shown == []
    assert taken[0] > 100


def test_a_job_of_a_team_seals_no_event_of_another(world: World, taken: list[int]) -> None:
    with undone():
        with tenant(world.ours.account.id):
            record_event(world.ours.actor("owner"), "record.created", "record", "rec_1")
            waiting = Event.objects.filter(seq=None).count()
        with tenant(world.theirs.account.id):
            seal_events(world.theirs.account.id)
            assert not Event.objects.filter(seq=None).exists()
        with tenant(world.ours.account.id):
            assert Event.objects.filter(seq=None).count() == waiting > 0
    assert taken[0] > 0


def test_an_export_of_a_team_holds_no_row_of_another(world: World, taken: list[int]) -> None:
    with tenant(world.theirs.account.id):
        export = open_export(world.theirs.actor("owner"), whole_account=True)
        file = io.BytesIO(b"".join(stream_export(export)))
    with zipfile.ZipFile(file) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert (THEIRS in everything, OURS in everything) == (True, False)
    assert taken[0] > 0


@pytest.mark.parametrize("table", TABLES)
def test_a_row_of_another_team_is_not_found_by_its_id(world: World, taken: list[int], table: str) -> None:
    [model] = [m for m in apps.get_models() if m._meta.db_table == table]
    foreign = [row[0] for row in counted(world, table)]
    with tenant(world.ours.account.id):
        found = model._default_manager.filter(account_id=world.ours.account.id, id__in=foreign)  # type: ignore[misc]
        assert (found.count(), len(foreign) > 0) == (0, True)
