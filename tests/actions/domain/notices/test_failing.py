"""Who manages a webhook gets one letter when it is switched off because it fails."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from accounts.domain.accounts import add_member
from accounts.domain.members import change_role
from accounts.models import Job, User
from accounts.scopes import Role
from actions.domain.notices.choices import choose_mail
from actions.domain.notices.deliveries import purge_notices
from actions.domain.notices.failing import write_about
from actions.domain.notices.sending import deliver
from actions.domain.notices.webhooks import access_webhook, remove_webhook, switch_webhook
from actions.domain.notices.working import work_off_notices
from actions.models import Webhook, WebhookLetter
from memoryhub.common.ids import typed_id
from memoryhub.flows.offboarding import remove_member
from tests.actions.notices_stage import hook
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.receiver import HERE, Receiver, receiving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "clock")]


@pytest.fixture
def receiver(settings: Any) -> Any:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as found:
        yield found


def goes_off(cast: Cast, receiver: Receiver) -> Webhook:
    """Its endpoint says that it is gone."""
    made = hook(cast, receiver.url, name="The build").webhook
    proposed(cast)
    receiver.answers.append(410)
    return made


def receivers() -> list[str]:
    return sorted(letter.to[0] for letter in mail.outbox)


def test_who_manages_it_is_written_to_once_and_nobody_else(cast: Cast, receiver: Receiver) -> None:
    goes_off(cast, receiver)
    work_off_notices()
    work_off_notices()
    assert receivers() == ["admin@acme.example", "owner@acme.example"]


def test_the_letter_says_which_since_when_why_and_where_it_is_switched_on(
    cast: Cast, receiver: Receiver, clock: Any
) -> None:
    made = goes_off(cast, receiver)
    work_off_notices()
    letter = mail.outbox[0]
    assert letter.subject == "The webhook The build is switched off"
    assert f"of acme, to {made.host}, is switched off: its endpoint says that it is gone." in letter.body
    assert "failing since 2026-03-02 09:00 UTC" in letter.body
    assert "the last try: answered 410" in letter.body
    assert "It stays off until a person switches it on" in letter.body
    here = "http://testserver/a/acme"
    assert re.findall(r"\S+://\S+", letter.body) == [f"{here}/webhooks/{made.uid}/", f"{here}/notifications/"]
    assert "token=abc" not in letter.body


def test_one_that_failed_for_days_says_since_when(cast: Cast, settings: Any, clock: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    made = hook(cast, "http://127.0.0.1:9/").webhook
    while not access_webhook(cast.owner, made.uid).off:
        proposed(cast)
        for _ in range(3):
            clock.shift(timedelta(hours=9))
            work_off_notices()
    assert receivers() == ["admin@acme.example", "owner@acme.example"]
    assert "nothing it was sent was taken for days" in mail.outbox[0].body
    assert "failing since 2026-03-02 18:00 UTC" in mail.outbox[0].body


def test_whoever_switches_it_off_by_hand_is_not_told_that_they_did(cast: Cast) -> None:
    made = hook(cast).webhook
    switch_webhook(cast.owner, made.uid, on=False)
    assert not WebhookLetter.objects.exists()


def test_each_time_it_goes_off_there_is_a_letter(cast: Cast, receiver: Receiver) -> None:
    made = goes_off(cast, receiver)
    work_off_notices()
    switch_webhook(cast.owner, made.uid, on=True)
    proposed(cast)
    receiver.answers.append(410)
    work_off_notices()
    assert receivers() == ["admin@acme.example"] * 2 + ["owner@acme.example"] * 2


def test_a_job_that_comes_twice_writes_once(cast: Cast, receiver: Receiver) -> None:
    goes_off(cast, receiver)
    work_off_notices()
    for letter in WebhookLetter.objects.all():
        assert write_about(cast.account.id, letter.id, 0) is None
    assert len(mail.outbox) == 2


def test_what_a_worker_that_is_gone_had_begun_is_not_sent_again(cast: Cast, receiver: Receiver) -> None:
    goes_off(cast, receiver)
    deliver_it()
    begun = WebhookLetter.objects.filter(user_id=cast.owner.user_id)
    begun.update(told_at=timezone.now())
    work_off_notices()
    assert receivers() == ["admin@acme.example"]


def deliver_it() -> None:
    """The message that is refused; the letters that follow from it wait."""
    job = Job.objects.get(kind="deliver")
    deliver(job.account_id, job.object_id)
    assert Job.objects.filter(kind="webhook_off").count() == 2


@pytest.mark.parametrize("why", ["said only", "locked out", "member now", "removed", "never", "on again"])
def test_it_is_written_only_to_who_may_still_manage_it_and_hears_by_mail(
    cast: Cast, receiver: Receiver, why: str
) -> None:
    made, admin = goes_off(cast, receiver), cast.admin.user_id
    deliver_it()
    match why:
        case "said only":
            EmailAddress.objects.filter(user_id=admin).update(verified=False)
        case "locked out":
            User.objects.filter(id=admin).update(is_active=False)
        case "member now":
            change_role(cast.owner, typed_id("usr", admin), Role.MEMBER)
        case "removed":
            remove_member(cast.owner, admin)
        case "never":
            choose_mail(cast.admin, "none", 1)
        case "on again":
            switch_webhook(cast.owner, made.uid, on=True)
    work_off_notices()
    assert receivers() == ([] if why == "on again" else ["owner@acme.example"])


def test_who_came_later_is_not_told_of_what_was_before(cast: Cast, receiver: Receiver) -> None:
    goes_off(cast, receiver)
    work_off_notices()
    add_member(cast.account.id, User.objects.get(id=cast.viewer.user_id), Role.ADMIN)
    work_off_notices()
    assert len(mail.outbox) == 2


def test_a_mail_server_that_is_away_gets_it_later(
    cast: Cast, receiver: Receiver, clock: Any, post_office: Any
) -> None:
    choose_mail(cast.admin, "none", 1)
    goes_off(cast, receiver)
    post_office.refusals.extend(["451 later", "421 busy"])
    work_off_notices()
    assert post_office.letters == []
    for _ in range(3):
        clock.shift(timedelta(minutes=10))
        work_off_notices()
    assert len(post_office.letters) == 1


def test_an_address_that_is_refused_for_good_is_given_up(
    cast: Cast, receiver: Receiver, post_office: Any
) -> None:
    choose_mail(cast.admin, "none", 1)
    goes_off(cast, receiver)
    post_office.refusals.append("550 nobody")
    work_off_notices()
    assert not Job.objects.filter(lane="notices").exists()


def test_without_a_mail_server_nothing_is_written_down(cast: Cast, receiver: Receiver, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    goes_off(cast, receiver)
    work_off_notices()
    assert not WebhookLetter.objects.exists()


def test_a_webhook_that_is_removed_takes_its_letters_along(cast: Cast, receiver: Receiver) -> None:
    made = goes_off(cast, receiver)
    deliver_it()
    remove_webhook(cast.owner, made.uid)
    work_off_notices()
    assert (mail.outbox, WebhookLetter.objects.count()) == ([], 0)


def test_after_a_month_it_is_forgotten_that_one_was_written(
    cast: Cast, receiver: Receiver, clock: Any
) -> None:
    goes_off(cast, receiver)
    work_off_notices()
    clock.shift(timedelta(days=31))
    purge_notices(cast.account.id)
    assert not WebhookLetter.objects.exists()
