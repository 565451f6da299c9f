from accounts.domain.events import seal_events
from accounts.models import AgentKey
from actions.models import Action
from memoryhub.common.tenancy import tenant
from memoryhub.running.demo import fill
from spaces.models import (
    JournalEntry,
    Memory,
    Plan,
    PlanVersion,
    Record,
    Reminder,
    Summary,
    Transaction,
    Value,
)
from tests.calls import call
from tests.conftest import Cast


def test_a_new_team_is_filled_with_a_week_of_its_agents_once(cast: Cast) -> None:
    with tenant(cast.account.id):
        assert seal_events(cast.account.id)
    assert fill()
    assert not fill()
    with tenant(cast.account.id):
        assert AgentKey.objects.filter(name__in=["Claude Code", "Cursor", "Release bot"]).count() == 3
        assert Memory.objects.filter(agent="cursor").exists()
        least_of = {Memory: 20, JournalEntry: 5, Record: 8, Value: 4, Action: 3}
        least_of |= {Plan: 2, Transaction: 8, Reminder: 1}
        for kind, least in least_of.items():
            assert kind.objects.filter(space=cast.space).count() >= least, kind
        assert Summary.objects.count() == 2
        assert PlanVersion.objects.filter(plan__title="Italian invoices").count() == 2


def test_what_it_says_is_there_for_an_agent_that_begins(cast: Cast) -> None:
    fill()
    context = call(cast.agent, "get_context")
    assert len(context["core"]) == 4
    assert [len(context["records"][part]) > 0 for part in ("overdue", "due", "open")] == [True] * 3
    assert len(context["actions"]) == 3


def test_what_somebody_wrote_is_left_alone(cast: Cast) -> None:
    call(cast.agent, "journal_write", date="2026-03-02", summary="My day")
    assert not fill()
    with tenant(cast.account.id):
        assert JournalEntry.objects.count() == 1
        assert not Memory.objects.exists()
        assert not AgentKey.objects.filter(name="Cursor").exists()


def test_nobody_else_gets_any_of_it(cast: Cast) -> None:
    fill()
    with tenant(cast.outsider.account_id):
        assert not Memory.objects.exists()
