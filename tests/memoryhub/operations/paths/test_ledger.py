"""The ledger: by its tool, over REST, and at the start of a task."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
import time_machine

from accounts.actor import Actor
from accounts.models import Event
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError, NotFound
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.domain.spaces import Settings, create_space, update_space
from spaces.models import Transaction
from tests.calls import call as ask_hub
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
TEA: dict[str, Any] = {
    "type": "expense",
    "item": "Tea",
    "amount": "4.20",
    "currency": "chf",
    "date": "2026-03-02",
}


def ask(actor: Actor, action: str, **arguments: Any) -> dict[str, Any]:
    operation = REGISTRY.get("ledger", "paths")
    assert operation is not None
    answer = operation(actor, {"action": action, **arguments})
    jsonschema.validate(answer, operation.output_schema)
    return answer


def rest(actor: Actor, name: str, **arguments: Any) -> dict[str, Any]:
    operation = REGISTRY.get(name, "paths")
    assert operation is not None
    answer = operation(actor, arguments)
    jsonschema.validate(answer, operation.output_schema)
    return answer


def add(actor: Actor, **changes: Any) -> dict[str, Any]:
    transaction: dict[str, Any] = ask(actor, "add", **{**TEA, **changes})["transaction"]
    return transaction


def refused(actor: Actor, action: str, **arguments: Any) -> list[str]:
    with pytest.raises(HubError) as caught:
        ask(actor, action, **arguments)
    return list(caught.value.details.get("fields", [caught.value.code]))  # type: ignore[call-overload]


class TestTransactions:
    def test_answers_what_was_recorded(self, cast: Cast) -> None:
        more = {"category": " Food ", "merchant": "Sprüngli", "payment_method": "card", "note": "two cups"}
        transaction = add(cast.agent, **more)
        assert transaction == {
            "id": transaction["id"],
            "type": "expense",
            "item": "Tea",
            "amount": "4.20",
            "currency": "CHF",
            "date": "2026-03-02",
            "category": "food",
            "merchant": "Sprüngli",
            "payment_method": "card",
            "note": "two cups",
            "created_at": transaction["created_at"],
        }

    def test_without_a_date_it_is_of_today_in_the_space(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(time_zone="Pacific/Kiritimati"))
        with time_machine.travel("2026-03-02T12:00Z", tick=False):
            assert add(cast.agent, date=None)["date"] == "2026-03-03"

    @pytest.mark.parametrize(
        ("sent", "kept", "shown"),
        [
            ("1", "1", "1.00"),
            ("0.0001", "0.0001", "0.0001"),
            ("12.5", "12.5", "12.50"),
            (" 7.00 ", "7", "7.00"),
            ("99999999999999.9999", "99999999999999.9999", "99999999999999.9999"),
            ("1.10000000", "1.1", "1.10"),
            (12, "12", "12.00"),
            (12.5, "12.5", "12.50"),
            (0.1, "0.1", "0.10"),
            ("00012", "12", "12.00"),
        ],
    )
    def test_amounts_are_exact(self, cast: Cast, sent: Any, kept: str, shown: str) -> None:
        assert add(cast.agent, amount=sent)["amount"] == shown
        with tenant(cast.account.id):
            assert Transaction.objects.get().amount == Decimal(kept)

    @pytest.mark.parametrize(
        "amount",
        [
            "0",
            "0.00",
            "-1",
            "1,000",
            "1.00001",
            "100000000000000",
            "1e3",
            "NaN",
            "Infinity",
            "twelve",
            "",
            " ",
            "$5",
            "٣",
            0,
            -1,
            0.1 + 0.2,
            1e30,
            True,
            [1],
            "9" * 400,
        ],
    )
    def test_what_is_no_amount_or_too_exact_is_refused_and_nothing_rounded(
        self, cast: Cast, amount: Any
    ) -> None:
        assert refused(cast.agent, "add", **{**TEA, "amount": amount}) == ["amount"]

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("type", "gift"),
            ("type", None),
            ("item", ""),
            ("item", "x" * 501),
            ("currency", "XXX"),
            ("currency", "EURO"),
            ("currency", ""),
            ("date", "2026-02-30"),
            ("date", "02.03.2026"),
            ("path", "../x"),
            ("path", "system/x"),
            ("note", "x" * 2001),
        ],
    )
    def test_each_bad_field_is_named(self, cast: Cast, field: str, value: Any) -> None:
        assert refused(cast.agent, "add", **{**TEA, field: value}) == [field]

    def test_every_fault_is_told_at_once(self, cast: Cast) -> None:
        assert refused(cast.agent, "add", **{**TEA, "amount": "x", "currency": "x"}) == ["amount", "currency"]
        assert refused(cast.agent, "add") == ["type", "item", "amount", "currency"]

    def test_what_may_be_the_same_call_again_is_recorded_and_said(self, cast: Cast) -> None:
        first = add(cast.agent)
        (warning,) = ask(cast.agent, "add", **TEA)["warnings"]
        assert first["id"] in warning
        assert len(ask(cast.agent, "list")["transactions"]) == 2

    def test_a_project_has_a_ledger_of_its_own(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            create_space(cast.owner, name="Garden", slug="garden")
        add(cast.agent, item="Spade", path="projects/garden/tools")
        add(cast.agent, item="Tea", path="finance/ledger/2026")
        missing = ask(cast.agent, "add", **{**TEA, "item": "Ghost", "path": "projects/ghost"})
        assert missing["warnings"] == ["project_missing"]
        assert listed(cast.agent) == ["Ghost", "Tea"]
        assert listed(cast.agent, path="projects/garden") == ["Spade"]
        assert listed(cast.agent.in_space("garden")) == ["Spade"]
        assert listed(cast.agent, path="finance/ledger") == ["Tea"]

    def test_is_listed_latest_date_first_page_by_page(self, cast: Cast) -> None:
        for day in (3, 1, 5, 2, 4):
            add(cast.agent, item=str(day), date=f"2026-03-0{day}")
        items, cursor = [], None
        while not items or cursor:
            answer = ask(cast.agent, "list", limit=2, cursor=cursor)
            items += [row["item"] for row in answer["transactions"]]
            cursor = answer.get("next_cursor")
        assert items == ["5", "4", "3", "2", "1"]

    def test_is_narrowed_by_month_type_category_and_currency(self, cast: Cast) -> None:
        add(cast.agent, item="a", date="2026-02-28", category="food")
        add(cast.agent, item="b", date="2026-03-31", type="income", currency="EUR")
        for asked, items in (
            ({"month": "2026-02"}, ["a"]), ({"month": "2026-03"}, ["b"]), ({"type": "income"}, ["b"]),
            ({"category": "Food"}, ["a"]), ({"currency": "eur"}, ["b"]), ({"month": "2026-04"}, []),
        ):  # fmt: skip
            assert listed(cast.agent, **asked) == items
        assert refused(cast.agent, "list", month="2026-13") == ["month"]


def listed(actor: Actor, **asked: Any) -> list[str]:
    return [row["item"] for row in ask(actor, "list", **asked)["transactions"]]


class TestVoiding:
    def test_it_stays_on_record_and_counts_no_more(self, cast: Cast) -> None:
        id = add(cast.agent)["id"]
        voided = ask(cast.agent, "void", id=id)["transaction"]
        assert voided["voided_at"]
        assert ask(cast.agent, "void", id=id)["transaction"] == voided
        assert listed(cast.agent) == []
        assert listed(cast.agent, include_voided=True) == ["Tea"]
        assert ask(cast.agent, "summary", month="2026-03")["currencies"] == {}

    def test_only_what_is_there_can_be_voided(self, cast: Cast) -> None:
        foreign = add(cast.outsider)["id"]
        for id in (foreign, typed_id("txn", new_id()), "nonsense"):
            assert refused(cast.agent, "void", id=id) == ["not_found"]
        assert refused(cast.agent, "void") == ["id"]

    def test_its_event_holds_no_text(self, cast: Cast) -> None:
        ask(cast.agent, "void", id=add(cast.agent)["id"])
        with tenant(cast.account.id):
            events = list(Event.objects.filter(type__startswith="ledger.").order_by("id"))
        assert [event.type for event in events] == ["ledger.recorded", "ledger.voided"]
        assert {event.summary for event in events} == {""}


class TestSums:
    def test_are_by_currency_and_never_mixed(self, cast: Cast) -> None:
        for changes in (
            {"category": "food"}, {"amount": "0.10", "category": "food"}, {"amount": "0.20", "category": "rent"},
            {"type": "income", "amount": "1000"}, {"type": "refund", "amount": "4.2001"},
            {"type": "transfer", "amount": "500"}, {"currency": "JPY", "amount": "3000"}, {"date": "2026-04-01"},
        ):  # fmt: skip
            add(cast.agent, **changes)
        answer = ask(cast.agent, "summary", month="2026-03")
        assert answer["month"] == "2026-03"
        assert answer["currencies"] == {
            "CHF": {
                "expense": "4.50", "income": "1000.00", "refund": "4.2001", "transfer": "500.00", "net": "999.7001",
                "count": 6, "expenses_by_category": {"food": "4.30", "rent": "0.20"},
            },
            "JPY": {
                "expense": "3000.00", "income": "0.00", "refund": "0.00", "transfer": "0.00", "net": "-3000.00",
                "count": 1, "expenses_by_category": {"": "3000.00"},
            },
        }  # fmt: skip

    def test_are_of_this_month_in_the_space_unless_told(self, cast: Cast) -> None:
        with time_machine.travel("2026-12-31T23:30Z", tick=False):
            assert ask(cast.agent, "summary")["month"] == "2026-12"
            with tenant(cast.account.id):
                update_space(cast.owner, Settings(time_zone="Asia/Tokyo"))
            assert ask(cast.agent, "summary")["month"] == "2027-01"


class TestReminders:
    def test_is_due_once_and_then_complete(self, cast: Cast) -> None:
        reminder = ask(cast.agent, "remind", content="Call Ana", due_at="2026-03-05T10:00+01:00")["reminder"]
        assert (reminder["due_at"], reminder["completions"]) == ("2026-03-05T09:00:00Z", 0)
        done = ask(cast.agent, "complete_reminder", id=reminder["id"])["reminder"]
        assert (done["completed_at"], done["completions"]) == (done["last_completed_at"], 1)
        assert ask(cast.agent, "complete_reminder", id=reminder["id"])["reminder"] == done
        assert ask(cast.agent, "reminders")["reminders"] == []
        assert len(ask(cast.agent, "reminders", include_completed=True)["reminders"]) == 1

    def test_one_that_recurs_moves_on_until_its_rule_ends(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(time_zone="Europe/Zurich"))
        sent = {"content": "Rent", "due_at": "2026-03-28", "recurrence": "FREQ=DAILY;COUNT=3"}
        reminder = ask(cast.agent, "remind", **sent)["reminder"]
        dues = [reminder["due_at"]]
        for _ in range(3):
            reminder = ask(cast.agent, "complete_reminder", id=reminder["id"])["reminder"]
            dues.append(reminder["due_at"])
        assert dues == ["2026-03-28", "2026-03-29", "2026-03-30", "2026-03-30"]
        assert (reminder["completions"], "completed_at" in reminder) == (3, True)

    def test_are_listed_first_due_first_until_a_bound(self, cast: Cast) -> None:
        for due in ("2026-03-07", "2026-03-05T09:00Z", "2026-03-06"):
            ask(cast.agent, "remind", content=due, due_at=due)
        found = ask(cast.agent, "reminders", due_before="2026-03-06")["reminders"]
        assert [reminder["content"] for reminder in found] == ["2026-03-05T09:00Z", "2026-03-06"]

    @pytest.mark.parametrize(
        ("sent", "field"),
        [
            ({"content": ""}, "content"),
            ({"due_at": ""}, "due_at"),
            ({"due_at": "soon"}, "due_at"),
            ({"recurrence": "often"}, "recurrence"),
            ({"content": "x" * 2001}, "content"),
            ({"path": "a//b"}, "path"),
        ],
    )
    def test_what_can_not_be_reminded_of_is_refused(
        self, cast: Cast, sent: dict[str, Any], field: str
    ) -> None:
        assert refused(cast.agent, "remind", **{"content": "Tea", "due_at": "2026-03-05", **sent}) == [field]

    def test_a_day_stays_that_day_in_another_zone(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(time_zone="America/Bogota"))
        id = ask(cast.agent, "remind", content="Tea", due_at="2026-08-08", recurrence="daily")["reminder"][
            "id"
        ]
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(time_zone="Pacific/Kiritimati"))
        assert ask(cast.agent, "reminders", due_before="2026-08-08")["reminders"][0]["due_at"] == "2026-08-08"
        assert ask(cast.agent, "complete_reminder", id=id)["reminder"]["due_at"] == "2026-08-09"

    def test_those_that_are_due_are_in_the_context(self, cast: Cast) -> None:
        with time_machine.travel("2026-03-02T12:00Z", tick=False):
            for due in ("2026-03-01", "2026-03-09", "2026-03-10"):
                ask(cast.agent, "remind", content=f"{due} {'x' * 60}", due_at=due)
            found = ask_hub(cast.agent, "get_context")["reminders"]
            assert [reminder["content"][:10] for reminder in found] == ["2026-03-01", "2026-03-09"]
            assert [reminder["due_at"] for reminder in found] == ["2026-03-01", "2026-03-09"]
            blind = cast.key(scopes=cast.agent.scopes - {Scope.LEDGER_READ})
            assert "reminders" not in ask_hub(blind, "get_context")
            small = ask_hub(cast.agent, "get_context", budget_chars=200)
            assert small["budget"]["truncated"]["reminders"] >= 1


class TestRights:
    def test_each_action_needs_its_own_scope(self, cast: Cast) -> None:
        reader = cast.key(scopes=frozenset({Scope.LEDGER_READ}))
        writer = cast.key(scopes=frozenset({Scope.LEDGER_WRITE}))
        for action in ("add", "void", "remind", "complete_reminder"):
            with pytest.raises(Forbidden) as caught:
                ask(reader, action)
            assert caught.value.details == {"missing_scopes": ["ledger:write"]}
        for action in ("list", "summary", "reminders"):
            with pytest.raises(Forbidden) as caught:
                ask(writer, action)
            assert caught.value.details == {"missing_scopes": ["ledger:read"]}

    def test_a_viewer_may_look_and_not_write(self, cast: Cast) -> None:
        viewer = replace(cast.agent, role=cast.viewer.role, user_id=cast.viewer.user_id)
        id = add(cast.agent)["id"]
        reminder = ask(cast.agent, "remind", content="Tea", due_at="2026-03-05")["reminder"]["id"]
        assert listed(viewer) == ["Tea"]
        for action, given in (
            ("add", TEA), ("void", {"id": id}), ("remind", {"content": "x", "due_at": "2026-03-05"}),
            ("complete_reminder", {"id": reminder}),
        ):  # fmt: skip
            with pytest.raises(Forbidden):
                ask(viewer, action, **given)

    def test_an_unknown_action_is_refused(self, cast: Cast) -> None:
        assert refused(cast.agent, "steal") == ["action"]


def test_rest_has_an_address_for_each_action(cast: Cast) -> None:
    transaction = rest(cast.agent, "ledger_add", **TEA)["transaction"]
    assert rest(cast.agent, "ledger_get", id=transaction["id"])["transaction"] == transaction
    assert rest(cast.agent, "ledger_list")["items"] == [transaction]
    assert rest(cast.agent, "ledger_summary", month="2026-03")["currencies"]["CHF"]["expense"] == "4.20"
    assert rest(cast.agent, "ledger_void", id=transaction["id"])["transaction"]["voided_at"]
    reminder = rest(cast.agent, "reminder_set", content="Tea", due_at="2026-03-05")["reminder"]
    assert rest(cast.agent, "reminder_list")["items"] == [reminder]
    assert rest(cast.agent, "reminder_complete", id=reminder["id"])["reminder"]["completed_at"]
    with pytest.raises(NotFound):
        rest(cast.agent, "ledger_get", id="nonsense")
