"""A message in Slack tells a person what waits for them: when letters do, once, with a link and nothing more."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from accounts.domain.members import change_role
from accounts.models import Job, User
from accounts.scopes import Role
from actions.connectors.identity import Identity
from actions.connectors.signing_in import Tokens
from actions.domain.connections import add_connection, list_connections, revoke_connection
from actions.domain.execution import DOUBT
from actions.domain.notices.choices import choice_of, choose_mail, choose_slack
from actions.domain.notices.direct import RETRIES, message_to
from actions.domain.notices.lane import NOTICES, SLACK, TELL_PEOPLE
from actions.domain.notices.people import tell_people
from actions.domain.notices.telling import tell
from actions.domain.notices.working import work_off_notices
from actions.models import Action, Connection, Notice
from memoryhub.common.errors import Conflict, Forbidden
from memoryhub.common.ids import typed_id
from memoryhub.flows.offboarding import remove_member
from spaces.models import Space
from tests.actions.notices_stage import pass_time, quickly, risky
from tests.actions.stage import action_in, approve, propose, proposed
from tests.conftest import Cast
from tests.vendors.authorities import Authority
from tests.vendors.fakes import Slack
from tests.vendors.faults import FAULTS, HUGE, Fault
from tests.vendors.server import TOKEN, Vendor
from tests.vendors.stage import connected, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "clock")]
HOUR = timedelta(hours=1)
ADDRESS = "approver@acme.example"
HOME = "http://testserver/a/acme"


@pytest.fixture
def slack(cast: Cast, vendors: dict[str, Vendor]) -> Slack:
    """Where the approver is known, and wants to hear; the owner wants to hear nothing anywhere."""
    found = vendors["slack"]
    assert isinstance(found, Slack)
    found.join("owner@acme.example", id="U0OWNER")
    found.join(ADDRESS, id="U0APPROVER")
    connected(cast.owner, "slack.send")
    choose_mail(cast.owner, "none", 1)
    choose_mail(cast.approver, "none", 1)
    choose_slack(cast.approver, on=True)
    Job.objects.all().delete()
    return found


def told(slack: Slack) -> list[str]:
    return slack.said_to("U0APPROVER")


def trouble(cast: Cast) -> str:
    return choice_of(cast.account.id, cast.approver.user_id).slack_trouble


def jobs() -> int:
    return Job.objects.filter(lane=NOTICES.name).count()


def asked(slack: Slack) -> list[str]:
    names = [one.path.removeprefix("/api/") for one in slack.asked]
    return [name for name in names if name != "auth.test"]


def test_who_chose_it_is_told_and_nobody_else(cast: Cast, slack: Slack, clock: Any) -> None:
    risky(cast)
    pass_time(clock)
    assert len(told(slack)) == len(slack.made) == 1
    assert asked(slack) == ["users.lookupByEmail", "conversations.open", "chat.postMessage"]
    [notice] = Notice.objects.all()
    assert (notice.way, notice.user_id, notice.in_doubt) == ("slack", cast.approver.user_id, False)
    assert mail.outbox == []


def test_it_says_how_many_wait_where_and_of_which_kind_and_leads_there(
    cast: Cast, slack: Slack, clock: Any
) -> None:
    action = risky(cast)
    pass_time(clock)
    assert told(slack) == [
        "1 action waits for your decision:\n"
        "• Main: 1 to decide on, 1 of high risk, 1 × gmail.reply\n"
        f"   <{HOME}/main/actions/{action.short_id}/>\n"
        "Sign in there to see what each would do, and decide. Nothing can be decided here."
    ]


HOSTILE = "Your account is locked: <https://evil.example/login|here> <!channel> @everyone"


def test_it_is_text_alone_and_nothing_an_agent_wrote_is_in_it(cast: Cast, slack: Slack, clock: Any) -> None:
    for n in range(3):
        propose(
            cast.key(name="evil.example/agent"), class_name=f"evil{n}.example", summary=HOSTILE,
            payload={"text": HOSTILE}, meta={"x": HOSTILE},
        )  # fmt: skip
    quickly(clock, HOUR)
    [said] = slack.made
    assert "evil" not in json.dumps(said)
    assert "everyone" not in said["text"]
    assert "3 to decide on" in said["text"]
    assert re.findall(r"<[^>]*>", said["text"]) == [f"<{HOME}/main/inbox/>"]
    assert set(said) == {"channel", "ts", "text", "parse", "link_names", "unfurl_links", "unfurl_media"}
    assert (said["parse"], said["link_names"], said["unfurl_links"], said["unfurl_media"]) == (
        "none", False, False, False,
    )  # fmt: skip


def test_the_name_of_a_space_is_text_and_neither_link_nor_mention(
    cast: Cast, slack: Slack, clock: Any
) -> None:
    name = "R&D <!channel>\n<https://evil.example|Sign in>\u202e"
    Space.objects.filter(id=cast.space.id).update(name=name)
    risky(cast)
    pass_time(clock)
    [text] = told(slack)
    assert (
        "• R&amp;D &lt;!channel&gt; &lt;https://evil.example|Sign in&gt;⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧:"
        in text
    )
    assert len(re.findall(r"<[^>]*>", text)) == 1


@pytest.mark.parametrize(
    ("mode", "at_once", "later"), [("risky", 0, 1), ("each", 1, 0), ("gathered", 0, 1), ("none", 0, 1)]
)
def test_it_comes_when_letters_do(
    cast: Cast, slack: Slack, clock: Any, mode: str, at_once: int, later: int
) -> None:
    choose_mail(cast.approver, mode, 1)
    proposed(cast)
    pass_time(clock)
    assert len(told(slack)) == at_once
    quickly(clock, HOUR)
    assert len(told(slack)) == at_once + later


def test_gathered_is_gathered_whatever_the_risk(cast: Cast, slack: Slack, clock: Any) -> None:
    choose_mail(cast.approver, "gathered", 4)
    risky(cast)
    quickly(clock, 3 * HOUR)
    assert told(slack) == []
    quickly(clock, HOUR)
    assert len(told(slack)) == 1


def test_a_letter_and_a_message_tell_of_the_same_each_once(cast: Cast, slack: Slack, clock: Any) -> None:
    choose_mail(cast.approver, "each", 1)
    proposed(cast)
    assert [letter.to for letter in pass_time(clock)] == [[ADDRESS]]
    assert len(told(slack)) == 1
    assert sorted(Notice.objects.values_list("way", flat=True)) == ["mail", "slack"]
    assert quickly(clock, HOUR) == []
    assert len(told(slack)) == 1


def test_many_are_told_of_in_one_message(cast: Cast, slack: Slack, clock: Any) -> None:
    for _ in range(20):
        proposed(cast)
    quickly(clock, HOUR)
    assert [text.partition(":")[0] for text in told(slack)] == ["20 actions wait for your decision"]


def test_between_messages_at_once_there_is_quiet(cast: Cast, slack: Slack, clock: Any) -> None:
    choose_mail(cast.approver, "each", 1)
    began = timezone.now()
    for _ in range(12):
        proposed(cast)
        pass_time(clock, timedelta(seconds=60))
    assert 2 <= len(told(slack)) <= (timezone.now() - began) / timedelta(minutes=5) + 1


def test_what_nobody_knows_the_end_of_is_told_at_once(cast: Cast, slack: Slack, clock: Any) -> None:
    action = action_in(cast, "executing", clock)
    Job.objects.all().delete()
    Action.objects.filter(id=action.id).update(doubt=DOUBT)
    action.refresh_from_db()
    tell(cast.agent, action, "action.in_doubt")
    pass_time(clock)
    [text] = told(slack)
    assert text.startswith("1 action needs you to say what became of it:\n• Main: 1 of which nobody knows")


def test_what_is_decided_meanwhile_is_not_told(cast: Cast, slack: Slack, clock: Any) -> None:
    action = proposed(cast)
    pass_time(clock)
    approve(cast.owner, action)
    quickly(clock, HOUR)
    assert (slack.made, Notice.objects.count(), asked(slack)[2:]) == ([], 0, [])


def test_without_a_mail_server_there_are_messages_all_the_same(
    cast: Cast, slack: Slack, clock: Any, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    choose_mail(cast.approver, "each", 1)
    proposed(cast)
    pass_time(clock)
    assert len(told(slack)) == 1
    assert list(Notice.objects.values_list("way", flat=True)) == ["slack"]


def test_without_a_mail_server_and_anybody_in_slack_nothing_is_written_down(
    cast: Cast, slack: Slack, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    choose_slack(cast.approver, on=False)
    proposed(cast)
    assert not Job.objects.filter(kind=TELL_PEOPLE).exists()


def due(cast: Cast, clock: Any) -> None:
    """Something is to be told, now."""
    tell_people(cast.account.id, proposed(cast).id)
    Job.objects.exclude(kind=SLACK).delete()
    clock.shift(HOUR)


UNCLEAR = {
    "drop before the effect": 0, "drop after the effect": 1, "500 before the effect": 0, "500 after the effect": 1,
    "slow": 1, "malformed": 1, "redirect": 0, "huge": 1,
}  # fmt: skip
"""Where nobody knows whether it arrived: how many did."""


@pytest.mark.parametrize("fault", [f for f in [*FAULTS, HUGE] if f.name in UNCLEAR], ids=lambda f: f.name)
def test_what_may_have_arrived_is_never_sent_again(
    cast: Cast, slack: Slack, clock: Any, fault: Fault
) -> None:
    due(cast, clock)
    slack.faults.append(fault)
    work_off_notices()
    assert (len(told(slack)), jobs(), trouble(cast)) == (UNCLEAR[fault.name], 0, "unclear")
    quickly(clock, HOUR)
    [notice] = Notice.objects.all()
    assert (len(told(slack)), notice.in_doubt, asked(slack).count("chat.postMessage")) == (
        UNCLEAR[fault.name], True, 1 if UNCLEAR[fault.name] else 0,
    )  # fmt: skip


def test_the_next_message_takes_the_trouble_away(cast: Cast, slack: Slack, clock: Any) -> None:
    due(cast, clock)
    slack.faults.append(HUGE)
    work_off_notices()
    quickly(clock, HOUR)
    proposed(cast)
    quickly(clock, HOUR)
    assert (len(told(slack)), trouble(cast)) == (2, "")


def test_slack_says_when_to_come_back_and_nothing_is_asked_before(
    cast: Cast, slack: Slack, clock: Any
) -> None:
    due(cast, clock)
    slack.pause = 600
    slack.faults.append(Fault("busy", effect=False, answer=429))
    work_off_notices()
    [job] = Job.objects.filter(lane=NOTICES.name)
    assert job.run_after - timezone.now() == timedelta(seconds=600)
    before = len(slack.asked)
    choose_mail(cast.approver, "each", 1)
    proposed(cast)
    pass_time(clock, timedelta(seconds=590))
    assert (len(slack.asked), told(slack)) == (before, [])
    pass_time(clock, timedelta(seconds=20))
    assert [text.partition(":")[0] for text in told(slack)] == ["2 actions wait for your decision"]
    assert (jobs(), trouble(cast)) == (0, "")


def test_a_slack_that_is_away_is_tried_later_each_time_and_given_up_with_a_reason(
    cast: Cast, slack: Slack, clock: Any, settings: Any
) -> None:
    due(cast, clock)
    settings.VENDOR_URLS = {**settings.VENDOR_URLS, "slack": "http://127.0.0.1:9"}
    for wait in RETRIES:
        work_off_notices()
        [job] = Job.objects.filter(lane=NOTICES.name)
        assert job.run_after - timezone.now() == wait
        clock.shift(wait)
    work_off_notices()
    assert (jobs(), trouble(cast), Notice.objects.count()) == (0, "ConnectError", 0)


def test_a_slack_that_comes_back_gets_it(cast: Cast, slack: Slack, clock: Any, settings: Any) -> None:
    due(cast, clock)
    here = settings.VENDOR_URLS
    settings.VENDOR_URLS = {**here, "slack": "http://127.0.0.1:9"}
    work_off_notices()
    settings.VENDOR_URLS = here
    pass_time(clock)
    assert (len(told(slack)), trouble(cast)) == (1, "")


@pytest.mark.parametrize("method", ["users_lookupByEmail", "conversations_open", "chat_postMessage"])
@pytest.mark.parametrize(
    ("code", "why"),
    [("missing_scope", "missing_scope"), ("token_revoked", "signed out"), ("not_in_channel", "not_in_channel"),
     ("users_not_found", "users_not_found"), ("org_login_required", "org_login_required")],
)  # fmt: skip
def test_a_refusal_ends_it_with_a_reason(
    cast: Cast, slack: Slack, clock: Any, method: str, code: str, why: str
) -> None:
    due(cast, clock)
    slack.always[method] = {"ok": False, "error": code}
    work_off_notices()
    assert (slack.made, jobs(), trouble(cast), Notice.objects.count()) == ([], 0, why, 0)


@pytest.mark.parametrize("method", ["users_lookupByEmail", "conversations_open"])
@pytest.mark.parametrize(
    "answer", [{"ok": False, "error": "internal_error"}, {}, {"ok": True}, {"ok": True, "user": 7, "channel": []}]
)  # fmt: skip
def test_what_is_only_asked_is_asked_again_where_the_answer_says_nothing(
    cast: Cast, slack: Slack, clock: Any, method: str, answer: dict[str, Any]
) -> None:
    due(cast, clock)
    slack.always[method] = answer
    work_off_notices()
    assert (slack.made, jobs()) == ([], 1)
    del slack.always[method]
    pass_time(clock)
    assert len(told(slack)) == 1


@pytest.mark.parametrize("opened", ["C0GENERAL1", "G0PRIVATE1", "d0direct1", "", "D0DIRECT1/../x"])
def test_it_goes_to_nothing_but_a_conversation_with_one_person(
    cast: Cast, slack: Slack, clock: Any, opened: str
) -> None:
    due(cast, clock)
    slack.always["conversations_open"] = {"ok": True, "channel": {"id": opened}}
    work_off_notices()
    assert (slack.made, jobs(), trouble(cast)) == ([], 0, "not their conversation")


@pytest.mark.parametrize("who", ["nobody", "left", "a bot", "another"])
def test_who_is_not_found_by_their_own_address_is_told_so(
    cast: Cast, slack: Slack, clock: Any, who: str
) -> None:
    match who:
        case "nobody":
            del slack.people["U0APPROVER"]
        case "left":
            slack.people["U0APPROVER"]["deleted"] = True
        case "a bot":
            slack.people["U0APPROVER"]["is_bot"] = True
        case "another":
            other = {"id": "U0OWNER", "profile": {"email": "owner@acme.example"}}
            slack.always["users_lookupByEmail"] = {"ok": True, "user": other}
    due(cast, clock)
    work_off_notices()
    assert (slack.made, jobs(), trouble(cast)) == ([], 0, "users_not_found")


@pytest.mark.parametrize("scope", ["users:read.email", "im:write", "chat:write"])
def test_a_scope_that_was_not_given_ends_it_with_a_reason(
    cast: Cast, slack: Slack, clock: Any, scope: str
) -> None:
    slack.forbidden.add(scope)
    due(cast, clock)
    work_off_notices()
    assert (slack.made, jobs(), trouble(cast)) == ([], 0, "missing_scope")


def test_an_address_that_is_only_said_is_not_looked_for(cast: Cast, slack: Slack, clock: Any) -> None:
    EmailAddress.objects.filter(user_id=cast.approver.user_id).update(verified=False)
    due(cast, clock)
    work_off_notices()
    assert (asked(slack), jobs(), Notice.objects.count()) == ([], 0, 0)


@pytest.mark.parametrize("ends", ["role", "removed", "locked out", "off"])
def test_who_may_no_longer_decide_or_hear_is_not_told(
    cast: Cast, slack: Slack, clock: Any, ends: str
) -> None:
    due(cast, clock)
    match ends:
        case "role":
            change_role(cast.owner, typed_id("usr", cast.approver.user_id), Role.MEMBER)
        case "removed":
            remove_member(cast.owner, cast.approver.user_id)
        case "locked out":
            User.objects.filter(id=cast.approver.user_id).update(is_active=False)
        case "off":
            choose_slack(cast.approver, on=False)
    work_off_notices()
    assert (slack.made, jobs(), Notice.objects.count()) == ([], 0, 0)


def test_a_connection_that_was_ended_ends_it_with_a_reason(cast: Cast, slack: Slack, clock: Any) -> None:
    due(cast, clock)
    [connection] = [one for one in list_connections(cast.owner) if one.vendor == "slack"]
    revoke_connection(cast.owner, connection.uid)
    work_off_notices()
    assert (asked(slack), jobs(), trouble(cast)) == ([], 0, "not connected")


def test_a_token_that_is_over_is_renewed_and_the_message_arrives_once(
    cast: Cast, slack: Slack, clock: Any, authorities: dict[str, Authority]
) -> None:
    signed_in(cast.owner, "slack")
    due(cast, clock)
    authorities["slack"].expire()
    work_off_notices()
    assert (len(told(slack)), jobs(), trouble(cast)) == (1, 0, "")
    assert Connection.objects.standing().get(vendor="slack").generation == 1


def test_a_connection_that_can_not_be_renewed_any_more_is_signed_out(
    cast: Cast, slack: Slack, clock: Any, authorities: dict[str, Authority]
) -> None:
    signed_in(cast.owner, "slack")
    due(cast, clock)
    authorities["slack"].expire()
    authorities["slack"].refreshes.clear()
    work_off_notices()
    assert (slack.made, jobs(), trouble(cast)) == ([], 0, "signed out")
    proposed(cast)
    quickly(clock, HOUR)
    assert (slack.made, jobs(), trouble(cast)) == ([], 0, "signed out")


def test_a_job_that_comes_twice_says_it_once(cast: Cast, slack: Slack, clock: Any) -> None:
    due(cast, clock)
    for _ in range(2):
        assert message_to(cast.account.id, cast.approver.user_id, 0) is None
    assert len(told(slack)) == 1


def test_a_job_of_somebody_who_is_gone_ends(cast: Cast, slack: Slack) -> None:
    assert message_to(cast.account.id, cast.account.id, 0) is None
    assert asked(slack) == []


def test_an_agent_chooses_nothing(cast: Cast, slack: Slack) -> None:
    with pytest.raises(Forbidden):
        choose_slack(cast.agent, on=True)


def test_without_a_connection_that_works_it_is_not_to_be_had(cast: Cast) -> None:
    with pytest.raises(Conflict, match="no Slack connection that works"):
        choose_slack(cast.approver, on=True)
    add_connection(cast.owner, "slack", Tokens(TOKEN), Identity("T1/U1", "Acme"))
    assert choose_slack(cast.approver, on=True).slack
    Connection.objects.update(broken=True)
    with pytest.raises(Conflict, match="no Slack connection that works"):
        choose_slack(cast.approver, on=True)
    assert not choose_slack(cast.approver, on=False).slack


def test_a_connection_from_before_says_what_it_lacks(cast: Cast) -> None:
    before = Tokens(TOKEN, scopes=("chat:write", "channels:read"))
    add_connection(cast.owner, "slack", before, Identity("T1/U1", "Acme"))
    with pytest.raises(Conflict, match=r"lacks users:read, users:read\.email, im:write"):
        choose_slack(cast.approver, on=True)


def test_switching_it_on_leaves_the_times_as_they_were(cast: Cast, slack: Slack) -> None:
    choose_mail(cast.approver, "gathered", 24)
    choose_slack(cast.approver, on=False)
    choice = choose_slack(cast.approver, on=True)
    assert (choice.mode, choice.hours, choice.slack) == ("gathered", 24, True)
    assert choose_mail(cast.approver, "each", 1).slack
    assert Job.objects.filter(kind=SLACK).count() == 0
