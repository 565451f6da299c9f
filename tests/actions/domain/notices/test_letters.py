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
from actions.domain.execution import DOUBT
from actions.domain.notices.choices import choose_mail
from actions.domain.notices.lane import TELL_PEOPLE
from actions.domain.notices.telling import tell
from actions.domain.policies.rules import Draft, create_policy
from actions.domain.snoozing import snooze_action
from actions.domain.sweeps import flag_stale_action
from actions.models import Action, Notice
from memoryhub.common.errors import Forbidden, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.flows.offboarding import remove_member
from spaces.domain.members import set_space_role, set_visibility
from spaces.domain.spaces import create_space
from spaces.models import SpaceMember
from tests.actions.notices_stage import pass_time, quickly, risky
from tests.actions.stage import action_in, approve, propose, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "clock")]
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def only_new_jobs(cast: Cast) -> None:
    Job.objects.all().delete()


def receivers(letters: list[Any]) -> list[str]:
    return sorted(letter.to[0] for letter in letters)


def test_who_may_decide_is_written_to_and_nobody_else(cast: Cast, clock: Any) -> None:
    proposed(cast)
    assert pass_time(clock) == []
    letters = quickly(clock, HOUR)
    assert receivers(letters) == ["approver@acme.example", "owner@acme.example"]


def test_what_is_of_high_risk_is_told_at_once(cast: Cast, clock: Any) -> None:
    risky(cast)
    letters = pass_time(clock)
    assert receivers(letters) == ["approver@acme.example", "owner@acme.example"]
    assert "1 of high risk" in letters[0].body
    assert "gmail.reply" in letters[0].body


def test_a_letter_leads_to_the_page_and_nowhere_else(cast: Cast, clock: Any) -> None:
    action = proposed(cast)
    letter = quickly(clock, HOUR)[0]
    links = re.findall(r"\S+://\S+", letter.body)
    here = "http://testserver/a/acme"
    assert links == [f"{here}/main/actions/{action.short_id}/", f"{here}/notifications/"]
    assert letter.subject == "1 action waits for your decision"
    assert letter.extra_headers["Auto-Submitted"] == "auto-generated"


HOSTILE = "Your account is locked: https://evil.example/login\r\nBcc: all@evil.example\u202e"


def test_nothing_an_agent_wrote_is_in_a_letter(cast: Cast, clock: Any) -> None:
    space = create_space(cast.owner, name="win at evil.example", slug="prize")
    agent = cast.key(default_space_id=space.id, name="evil.example/agent")
    for n in range(3):
        propose(
            agent,
            class_name=f"evil{n}.example",
            summary=HOSTILE,
            payload={"text": HOSTILE},
            meta={"x": HOSTILE},
        )
    quickly(clock, HOUR)
    letter = mail.outbox[0]
    whole = letter.message().as_string()
    assert "evil" not in whole
    assert "acme/prize" in letter.body
    assert "3 to decide on" in letter.body
    assert letter.recipients() == letter.to
    assert "/a/acme/prize/inbox/" in letter.body


def test_many_are_told_of_in_one_letter(cast: Cast, clock: Any) -> None:
    for _ in range(40):
        proposed(cast)
    letters = quickly(clock, HOUR)
    assert [letter.subject for letter in letters] == ["40 actions wait for your decision"] * 2
    assert quickly(clock, HOUR) == []


def test_between_letters_at_once_there_is_quiet(cast: Cast, clock: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    choose_mail(cast.approver, "each", 1)
    began = timezone.now()
    for _ in range(20):
        proposed(cast)
        pass_time(clock, timedelta(seconds=60))
    letters = len(mail.outbox)
    assert 3 <= letters <= (timezone.now() - began) / timedelta(minutes=5) + 1


@pytest.mark.parametrize(
    ("mode", "at_once", "later"), [("risky", 0, 1), ("each", 1, 0), ("gathered", 0, 1), ("none", 0, 0)]
)
def test_each_is_written_to_as_they_chose(
    cast: Cast, clock: Any, mode: str, at_once: int, later: int
) -> None:
    choose_mail(cast.owner, "none", 1)
    choose_mail(cast.approver, mode, 1)
    proposed(cast)
    assert len(pass_time(clock)) == at_once
    assert len(quickly(clock, HOUR)) == later


def test_gathered_for_a_day_comes_after_a_day(cast: Cast, clock: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    choose_mail(cast.approver, "gathered", 24)
    propose(cast.agent, expires_at="2026-03-09")
    assert quickly(clock, timedelta(hours=23)) == []
    assert len(quickly(clock, HOUR)) == 1


def test_what_is_decided_meanwhile_is_not_told(cast: Cast, clock: Any) -> None:
    approve(cast.owner, proposed(cast))
    assert quickly(clock, HOUR) == []
    action = proposed(cast)
    pass_time(clock)
    approve(cast.owner, action)
    assert quickly(clock, HOUR) == []
    assert not Notice.objects.filter(action=action).exists()


def test_what_a_rule_approves_is_not_told(cast: Cast, clock: Any) -> None:
    rule = Draft("always", "auto", "chat.send", {})
    create_policy(cast.owner.in_space("main"), rule)
    proposed(cast)
    assert quickly(clock, HOUR) == []


def test_what_expires_before_the_letter_is_not_told(cast: Cast, clock: Any) -> None:
    propose(cast.agent, expires_at=(timezone.now() + timedelta(minutes=30)).isoformat())
    assert quickly(clock, HOUR) == []


def test_who_proposed_it_is_not_asked(cast: Cast, clock: Any) -> None:
    propose(cast.approver.in_space("main"))
    assert receivers(quickly(clock, HOUR)) == ["owner@acme.example"]


def test_of_a_closed_space_only_who_is_named_there_hears(cast: Cast, clock: Any) -> None:
    set_visibility(cast.owner, "members", space="main")
    SpaceMember.objects.create(
        account=cast.account, space=cast.space, user_id=cast.teammate.user_id, role=Role.MEMBER
    )
    proposed(cast)
    assert receivers(quickly(clock, HOUR)) == ["owner@acme.example"]


def test_who_only_reads_in_a_space_is_not_asked(cast: Cast, clock: Any) -> None:
    set_space_role(cast.owner, cast.approver.user_id, Role.VIEWER, space="main")
    proposed(cast)
    assert receivers(quickly(clock, HOUR)) == ["owner@acme.example"]


@pytest.mark.parametrize("ends", ["role", "removed", "locked out"])
def test_who_may_no_longer_decide_is_not_written_to(cast: Cast, clock: Any, ends: str) -> None:
    choose_mail(cast.owner, "none", 1)
    proposed(cast)
    pass_time(clock)
    assert Notice.objects.filter(user_id=cast.approver.user_id).exists()
    if ends == "role":
        change_role(cast.owner, typed_id("usr", cast.approver.user_id), Role.MEMBER)
    elif ends == "removed":
        remove_member(cast.owner, cast.approver.user_id)
    else:
        User.objects.filter(id=cast.approver.user_id).update(is_active=False)
    assert quickly(clock, HOUR) == []
    assert not Notice.objects.filter(user_id=cast.approver.user_id).exists()


def test_nobody_is_written_to_at_an_address_that_is_only_said(cast: Cast, clock: Any) -> None:
    EmailAddress.objects.filter(user_id=cast.approver.user_id).update(verified=False)
    proposed(cast)
    assert receivers(quickly(clock, HOUR)) == ["owner@acme.example"]


def test_what_nobody_knows_the_end_of_is_told_at_once(cast: Cast, clock: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    action = action_in(cast, "executing", clock)
    Job.objects.all().delete()
    Action.objects.filter(id=action.id).update(doubt=DOUBT)
    action.refresh_from_db()
    tell(cast.agent, action, "action.in_doubt")
    [letter] = pass_time(clock)
    assert letter.subject == "1 action needs you to say what became of it"


def test_what_was_claimed_and_never_heard_of_is_told_at_once(cast: Cast, clock: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    action = action_in(cast, "executing", clock)
    Job.objects.all().delete()
    clock.shift(HOUR)
    assert flag_stale_action(cast.account.id, action.id)
    [letter] = pass_time(clock)
    assert "say what became of it" in letter.subject


def test_snoozing_does_not_write_again(cast: Cast, clock: Any) -> None:
    action = proposed(cast)
    assert len(quickly(clock, HOUR)) == 2
    snooze_action(cast.approver, action.uid, until=timezone.now() + HOUR)
    assert quickly(clock, 2 * HOUR) == []


def test_without_a_mail_server_nothing_is_written_down(cast: Cast, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    proposed(cast)
    assert not Job.objects.filter(kind=TELL_PEOPLE).exists()


@pytest.mark.parametrize(("mode", "hours", "field"), [("often", 1, "mode"), ("each", 2, "hours")])
def test_a_choice_that_is_none_is_refused_by_its_field(cast: Cast, mode: str, hours: int, field: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        choose_mail(cast.viewer, mode, hours)
    assert list(refusal.value.fields) == [field]


def test_an_agent_chooses_nothing(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        choose_mail(cast.agent, "none", 1)


def test_a_letter_goes_by_smtp(cast: Cast, clock: Any, post_office: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    proposed(cast)
    quickly(clock, HOUR)
    [letter] = post_office.letters
    assert b"To: approver@acme.example" in letter
    assert b"Subject: 1 action waits for your decision" in letter


def test_a_server_that_is_away_gets_it_later(cast: Cast, clock: Any, post_office: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    proposed(cast)
    post_office.refusals.extend(["451 later", "421 busy"])
    quickly(clock, HOUR)
    assert post_office.letters == []
    [job] = Job.objects.filter(lane="notices")
    assert job.run_after > timezone.now()
    for _ in range(3):
        quickly(clock, HOUR)
    assert len(post_office.letters) == 1


def test_an_address_that_is_refused_for_good_is_given_up(cast: Cast, clock: Any, post_office: Any) -> None:
    choose_mail(cast.owner, "none", 1)
    proposed(cast)
    post_office.refusals.append("550 nobody")
    quickly(clock, HOUR)
    assert not Job.objects.filter(lane="notices").exists()
