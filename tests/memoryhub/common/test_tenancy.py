from collections.abc import Iterator
from typing import Any, NoReturn
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext

from memoryhub.common.tenancy import tenant, tenant_table

ACME, GLOBEX = uuid4(), uuid4()
OPERATIONS = [
    *tenant_table("common_shelf"),
    *tenant_table(
        "common_book", [("shelf_id", "common_shelf", "CASCADE"), ("sequel_of_id", "common_book", "SET NULL")]
    ),
]


def run(sql: str, *params: Any, on: DatabaseWrapper | None = None) -> list[tuple[Any, ...]]:
    with (on or connection).cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def add_shelf(account: UUID, shelf: UUID | None = None) -> UUID:
    shelf = shelf or uuid4()
    run("insert into common_shelf (account_id, id) values (%s, %s)", account, shelf)
    return shelf


def add_book(account: UUID, shelf: UUID | None = None, sequel_of: UUID | None = None) -> UUID:
    book = uuid4()
    run("insert into common_book values (%s, %s, %s, %s)", book, account, shelf, sequel_of)
    return book


def in_force() -> str:
    return run("select coalesce(current_setting('hub.account_id', true), '')")[0][0]


def check_references() -> None:
    run("set constraints all immediate")


def migrate(owner: DatabaseWrapper, *, back: bool = False) -> None:
    state = ProjectState()
    with owner.schema_editor() as editor:
        for operation in reversed(OPERATIONS) if back else OPERATIONS:
            change = operation.database_backwards if back else operation.database_forwards
            change("common", editor, state, state)


def structure(owner: DatabaseWrapper) -> dict[str, list[Any]]:
    tables = "('common_shelf'::regclass, 'common_book'::regclass)"
    return {
        "constraints": run(
            f"select pg_get_constraintdef(oid) from pg_constraint where conrelid in {tables} "
            "and contype <> 'n' order by conrelid::regclass::text, contype desc, conname",
            on=owner,
        ),
        "security": run(
            f"select relrowsecurity, relforcerowsecurity from pg_class where oid in {tables}", on=owner
        ),
        "policies": run(
            f"select polname, polroles::regrole[]::text[], polcmd from pg_policy where polrelid in {tables} "
            "order by polrelid::regclass::text, polname",
            on=owner,
        ),
    }


@pytest.fixture(scope="module")
def owner(django_db_setup: None, django_db_blocker: Any) -> Iterator[DatabaseWrapper]:
    """The owner's connection to the test database, in which there are shelves and books."""
    with django_db_blocker.unblock():
        login = connection.copy()
        login.settings_dict.update(USER=settings.DB_OWNER["USER"], PASSWORD=settings.DB_OWNER["PASSWORD"])
        run("create table common_shelf (id uuid primary key, account_id uuid not null)", on=login)
        run(
            "create table common_book (id uuid primary key, account_id uuid not null, shelf_id uuid, "
            "sequel_of_id uuid)",
            on=login,
        )
        migrate(login)
        yield login
        run("drop table common_book, common_shelf", on=login)
        login.close()


@pytest.fixture
def tables(owner: DatabaseWrapper, db: None) -> None:
    """The tables as the application's login sees them, inside the test's transaction."""


def test_the_tests_run_as_the_application(tables: None) -> None:
    assert run("select current_user, session_user") == [("hub_app", "hub_app")]


def test_a_table_of_tenants_has_keys_with_the_account_and_forced_policies(
    owner: DatabaseWrapper, tables: None
) -> None:
    assert structure(owner) == {
        "constraints": [
            ("PRIMARY KEY (account_id, id)",),
            (
                "FOREIGN KEY (account_id, sequel_of_id) REFERENCES common_book(account_id, id) "
                "ON DELETE SET NULL (sequel_of_id) DEFERRABLE INITIALLY DEFERRED",
            ),
            (
                "FOREIGN KEY (account_id, shelf_id) REFERENCES common_shelf(account_id, id) "
                "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
            ),
            ("PRIMARY KEY (account_id, id)",),
        ],
        "security": [(True, True), (True, True)],
        "policies": [("owner", ["hub_owner"], "*"), ("tenant", ["hub_app"], "*")] * 2,
    }


def test_the_migration_can_be_taken_back_and_made_again(
    owner: DatabaseWrapper, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        made = structure(owner)
        migrate(owner, back=True)
        assert structure(owner) == {
            "constraints": [("PRIMARY KEY (id)",), ("PRIMARY KEY (id)",)],
            "security": [(False, False), (False, False)],
            "policies": [],
        }
        migrate(owner)
        assert structure(owner) == made


def test_only_rows_of_the_account_in_force_are_there(tables: None) -> None:
    with tenant(ACME):
        mine = add_shelf(ACME)
    with tenant(GLOBEX):
        theirs = add_shelf(GLOBEX)
        assert run("select id from common_shelf") == [(theirs,)]
        run("update common_shelf set id = id")
        run("delete from common_shelf")
    with tenant(ACME):
        assert run("select id from common_shelf") == [(mine,)]


def test_without_an_account_there_are_no_rows(tables: None) -> None:
    with tenant(ACME):
        add_shelf(ACME)
    assert run("select id from common_shelf") == []


@pytest.mark.parametrize("account", [ACME, None])
def test_a_row_of_another_account_cannot_be_written(tables: None, account: UUID | None) -> None:
    def write() -> None:
        if account is None:
            add_shelf(GLOBEX)
        else:
            with tenant(account):
                add_shelf(GLOBEX)

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        write()


def test_a_row_cannot_be_moved_to_another_account(tables: None) -> None:
    with tenant(ACME):
        add_shelf(ACME)
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            run("update common_shelf set account_id = %s", GLOBEX)


def test_two_accounts_may_have_rows_with_the_same_id(tables: None) -> None:
    shelf = uuid4()
    for account in (ACME, GLOBEX):
        with tenant(account):
            assert add_shelf(account, shelf) == shelf


def test_a_reference_to_another_accounts_row_is_refused(tables: None) -> None:
    with tenant(GLOBEX):
        theirs = add_shelf(GLOBEX)

    def refer() -> None:
        with tenant(ACME):
            add_book(ACME, theirs)
            check_references()

    with pytest.raises(IntegrityError, match="common_book_shelf_id_fk"):
        refer()


def test_a_reference_may_come_before_its_row_in_a_transaction(tables: None) -> None:
    later = uuid4()
    with tenant(ACME):
        book = add_book(ACME, later)
        add_shelf(ACME, later)
        check_references()
        assert run("select shelf_id from common_book where id = %s", book) == [(later,)]


def test_no_reference_needs_no_row(tables: None) -> None:
    with tenant(ACME):
        add_book(ACME)
        check_references()
        assert run("select shelf_id, sequel_of_id from common_book") == [(None, None)]


def test_deleting_clears_the_references_that_say_so_and_keeps_their_account(tables: None) -> None:
    with tenant(ACME):
        first = add_book(ACME)
        second = add_book(ACME, sequel_of=first)
        run("delete from common_book where id = %s", first)
        check_references()
        assert run("select id, account_id, sequel_of_id from common_book") == [(second, ACME, None)]


def test_deleting_takes_along_what_stands_below(tables: None) -> None:
    with tenant(ACME):
        shelf = add_shelf(ACME)
        add_book(ACME, shelf)
        kept = add_book(ACME)
        run("delete from common_shelf where id = %s", shelf)
        assert run("select id from common_book") == [(kept,)]


def test_the_owner_sees_and_writes_every_account(owner: DatabaseWrapper, tables: None) -> None:
    for account in (ACME, GLOBEX):
        run("insert into common_shelf (account_id, id) values (%s, %s)", account, uuid4(), on=owner)
    assert len(run("select id from common_shelf", on=owner)) == 2
    assert run("delete from common_shelf returning 1", on=owner) == [(1,), (1,)]


def test_a_nested_account_is_in_force_inside_and_the_outer_one_after(tables: None) -> None:
    assert in_force() == ""
    with tenant(ACME):
        assert in_force() == str(ACME)
        with tenant(GLOBEX):
            assert in_force() == str(GLOBEX)
        assert in_force() == str(ACME)
    assert in_force() == ""


def test_the_outer_account_is_in_force_again_after_an_error(tables: None) -> None:
    with tenant(ACME):
        with pytest.raises(LookupError), tenant(GLOBEX):
            raise LookupError
        with pytest.raises(ProgrammingError), tenant(GLOBEX):
            run("select nonsense")
        assert in_force() == str(ACME)


def test_an_error_undoes_what_was_written(tables: None) -> None:
    def write_and_fail() -> NoReturn:
        with tenant(ACME):
            add_shelf(ACME)
            raise LookupError

    with pytest.raises(LookupError):
        write_and_fail()
    with tenant(ACME):
        assert run("select id from common_shelf") == []


def test_outside_a_transaction_the_account_ends_with_its_own(
    owner: DatabaseWrapper, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        with tenant(ACME):
            assert in_force() == str(ACME)
        assert in_force() == ""
        with pytest.raises(LookupError), tenant(ACME):
            raise LookupError
        assert in_force() == ""


def test_an_account_of_its_own_transaction_costs_one_statement(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock(), CaptureQueriesContext(connection) as queries, tenant(ACME):
        pass
    assert [query["sql"].split("(")[0] for query in queries] == ["BEGIN", "select current_setting", "COMMIT"]


def test_names_too_long_for_the_database_are_shortened_and_stay_apart() -> None:
    columns = ["c" * 40 + "_one_id", "c" * 40 + "_two_id"]
    table = "t" * 40
    operations = tenant_table(table, [(column, "common_shelf", "CASCADE") for column in columns])
    names = {operation.sql[0].split('"')[3] for operation in operations[1:3]}
    assert len(names) == 2
    assert all(len(name) == 63 for name in names)


@pytest.mark.parametrize("name", ["", "Shelf", 'x"; drop table y', "a b", "1st", "x" * 64])
def test_a_name_that_would_need_quoting_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Not a plain"):
        tenant_table(name)
