"""The pages of sessions, of the ledger and of what was captured."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine

from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from spaces.domain import ledger
from spaces.domain.capture import Said, capture, list_captures
from spaces.domain.ledger.summing import Month, Sums
from spaces.domain.spaces import Settings, update_space
from spaces.domain.summaries import Item, record_summary
from spaces.domain.summaries import Said as Summed
from spaces.models import Memory, Reminder, Summary, Transaction
from spaces.views.charts import HEIGHT, chart_of
from tests.calls import queries
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of

pytestmark = pytest.mark.django_db
EVIL = '<img src=x onerror=alert(1)>{{7*7}}"><svg onload=x>'


def summed(cast: Cast, said: str = "We chose tea", agent: str = "claude", text: str = "Tea at four") -> None:
    item = Item({"kind": "decision", "text": text})
    with tenant(cast.account.id):
        record_summary(cast.agent, Summed(said, [item], agent, "s1", "end"), space="main")


class TestSessions:
    def test_shows_what_was_said_and_recorded_and_narrows(self, cast: Cast) -> None:
        summed(cast)
        summed(cast, "Another day", "codex", text="Cake at five")
        browser = browser_of(cast.owner)
        page = text_of(browser.get(f"{SPACE}/sessions/"))
        for text in ("We chose tea", "Tea at four", "Another day", "claude", "codex"):
            assert text in page
        narrowed = text_of(browser.get(f"{SPACE}/sessions/?agent=codex"))
        assert ("Another day" in narrowed, "We chose tea" in narrowed) == (True, False)

    def test_one_has_an_address_of_its_own(self, cast: Cast) -> None:
        summed(cast)
        summed(cast, "Another day", text="Cake at five")
        with tenant(cast.account.id):
            id = typed_id("sum", Summary.objects.get(text="We chose tea").id)
        page = text_of(browser_of(cast.owner).get(f"{SPACE}/sessions/?summary={id}"))
        assert ("We chose tea" in page, "Another day" in page) == (True, False)
        assert browser_of(cast.owner).get(f"{SPACE}/sessions/?summary=nonsense").status_code == 404

    def test_says_how_one_comes_about_where_there_is_none(self, cast: Cast) -> None:
        assert "memory_record_summary" in text_of(browser_of(cast.owner).get(f"{SPACE}/sessions/"))

    def test_a_summary_is_deleted_and_its_memories_stay(self, cast: Cast) -> None:
        summed(cast)
        with tenant(cast.account.id):
            id = typed_id("sum", Summary.objects.get().id)
        browser_of(cast.owner).post(f"{SPACE}/sessions/{id}/delete/")
        with tenant(cast.account.id):
            assert (Summary.objects.count(), Memory.objects.count()) == (0, 1)

    @pytest.mark.parametrize(
        "fields",
        [{"status": "quarantined"}, {"status": "dropped"}, {"expires_at": datetime(2026, 8, 1, tzinfo=UTC)}],
    )
    def test_of_what_was_recorded_only_what_is_live_is_shown(
        self, cast: Cast, fields: dict[str, Any]
    ) -> None:
        item = Item({"kind": "fact", "text": "Cake at five"})
        with tenant(cast.account.id):
            record_summary(cast.agent, Summed("We chose tea", [item]), space="main")
        summed(cast)
        with tenant(cast.account.id):
            Memory.objects.filter(text="Cake at five").update(**fields)
        page = text_of(browser_of(cast.owner).get(f"{SPACE}/sessions/"))
        assert ("Tea at four" in page, "Cake at five" in page) == (True, False)

    def test_asks_no_more_for_three_than_for_one(self, cast: Cast) -> None:
        browser = browser_of(cast.owner)
        summed(cast)
        browser.get(f"{SPACE}/sessions/")
        one = queries(lambda: browser.get(f"{SPACE}/sessions/"))
        for n in range(2):
            summed(cast, f"Day {n}", text=f"Decision {n}")
        assert queries(lambda: browser.get(f"{SPACE}/sessions/")) == one

    def test_what_agents_wrote_is_text(self, cast: Cast) -> None:
        summed(cast, EVIL, EVIL, text=EVIL)
        page = text_of(browser_of(cast.owner).get(f"{SPACE}/sessions/"))
        assert "<img src=x" not in page
        assert "<svg onload" not in page


class TestLedger:
    def test_shows_the_month_its_sums_and_what_is_due(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            for amount, currency, day in (("4.20", "CHF", "2026-03-02"), ("9", "EUR", "2026-02-01")):
                entry = ledger.Entry(
                    "expense", f"Tea {currency}", amount, currency, date=day, category="food"
                )
                ledger.record_transaction(cast.agent, entry)
            ledger.set_reminder(cast.agent, "Pay the rent", "2026-03-01", recurrence="monthly")
        with time_machine.travel("2026-03-02T12:00Z", tick=False):
            browser = browser_of(cast.owner)
            page = text_of(browser.get(f"{SPACE}/ledger/"))
            for text in (
                "March 2026",
                "Tea CHF",
                "4.20 CHF",
                "food",
                "Pay the rent",
                "overdue",
                "CHF by month",
            ):
                assert text in page
            assert "Tea EUR" not in page
            earlier = text_of(browser.get(f"{SPACE}/ledger/?month=2026-02"))
            assert ("Tea EUR" in earlier, "Tea CHF" in earlier) == (True, False)
            assert "March 2026" in text_of(browser.get(f"{SPACE}/ledger/?month=nonsense"))

    def test_a_person_records_and_voids(self, cast: Cast) -> None:
        browser = browser_of(cast.owner)
        form = {"type": "income", "item": "Prize", "amount": "100", "currency": "eur", "date": "2026-03-02"}
        assert browser.post(f"{SPACE}/ledger/new/", form).status_code == 302
        refused = browser.post(f"{SPACE}/ledger/new/", {**form, "amount": "1,5"})
        assert (refused.status_code, "decimal number" in text_of(refused)) == (422, True)
        with tenant(cast.account.id):
            id = typed_id("txn", Transaction.objects.get().id)
        browser.post(f"{SPACE}/ledger/{id}/void/")
        page = text_of(browser.get(f"{SPACE}/ledger/?month=2026-03&voided=1"))
        assert ("Prize" in page, "voided" in page) == (True, True)

    def test_a_person_sets_and_completes_reminders(self, cast: Cast) -> None:
        browser = browser_of(cast.owner)
        form = {"content": "Water", "due_at": "2026-03-02", "recurrence": "daily"}
        assert browser.post(f"{SPACE}/ledger/remind/", form).status_code == 302
        assert browser.post(f"{SPACE}/ledger/remind/", {**form, "recurrence": "often"}).status_code == 422
        with tenant(cast.account.id):
            id = typed_id("rmd", Reminder.objects.get().id)
        browser.post(f"{SPACE}/ledger/reminders/{id}/complete/")
        with tenant(cast.account.id):
            assert Reminder.objects.get().due_on == date(2026, 3, 3)

    def test_what_agents_wrote_is_text(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            ledger.record_transaction(
                cast.agent,
                ledger.Entry("expense", EVIL, "1", "CHF", category=EVIL, merchant=EVIL, note=EVIL),
            )
            ledger.set_reminder(cast.agent, EVIL, "2026-03-01")
        page = text_of(browser_of(cast.owner).get(f"{SPACE}/ledger/"))
        assert "<img src=x" not in page
        assert "<svg onload" not in page

    def test_bars_are_as_high_as_their_share_and_what_is_little_is_seen(self) -> None:
        months = [(Month(2026, n), Sums()) for n in (1, 2, 3)]
        months[0][1].by_type["income"] = Decimal(1000)
        months[1][1].by_type["expense"] = Decimal(500)
        months[2][1].by_type["expense"] = Decimal("0.01")
        chart = chart_of("CHF", months, Month(2026, 2))
        assert [(bar.earned, bar.spent) for bar in chart.bars] == [
            (HEIGHT - 6, 0),
            (0, (HEIGHT - 6) // 2),
            (0, 2),
        ]
        assert [bar.is_chosen for bar in chart.bars] == [False, True, False]
        assert chart.bars[0].told == "January 2026: 1000.00 CHF in, 0.00 CHF out"


class TestCapture:
    def waiting(self, cast: Cast, text: str = "Remember that tea is at four") -> str:
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(capture_mode="review"))
            capture(cast.agent, [Said("user", text)])
            return typed_id("cap", list_captures(cast.agent).items[0].id)

    def test_is_off_until_an_owner_turns_it_on(self, cast: Cast) -> None:
        owner, teammate = browser_of(cast.owner), browser_of(cast.teammate)
        assert "Nothing is captured here" in text_of(owner.get(f"{SPACE}/capture/"))
        assert 'name="mode"' not in text_of(teammate.get(f"{SPACE}/capture/"))
        assert teammate.post(f"{SPACE}/capture/mode/", {"mode": "on"}).status_code == 403
        assert owner.post(f"{SPACE}/capture/mode/", {"mode": "review"}).status_code == 302
        assert "Nothing waits" in text_of(owner.get(f"{SPACE}/capture/"))

    def test_a_person_keeps_in_their_own_words_or_drops(self, cast: Cast) -> None:
        browser = browser_of(cast.teammate)
        id = self.waiting(cast)
        assert "Remember that tea is at four" in text_of(browser.get(f"{SPACE}/capture/"))
        browser.post(f"{SPACE}/capture/{id}/keep/", {"text": "Tea is at four"})
        with tenant(cast.account.id):
            assert [(m.text, m.trust) for m in Memory.objects.all()] == [("Tea is at four", "reviewed")]
        other = self.waiting(cast, "Remember the cake as well")
        browser.post(f"{SPACE}/capture/drop/", {"ids": other})
        assert "Nothing waits" in text_of(browser.get(f"{SPACE}/capture/"))
        late = browser.post(f"{SPACE}/capture/{id}/keep/", follow=True)
        assert "Someone has decided on this already" in text_of(late)

    def test_what_was_said_is_text(self, cast: Cast) -> None:
        self.waiting(cast, f"Remember {EVIL}")
        page = text_of(browser_of(cast.owner).get(f"{SPACE}/capture/"))
        assert "<img src=x" not in page
        assert "<svg onload" not in page
