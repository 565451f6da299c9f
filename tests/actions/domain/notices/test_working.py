"""With real transactions: what is sent is written down with the change, and nothing is held while it is sent."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.domain.jobs import claim, enqueue, enqueue_each, finish, run_due_jobs
from accounts.models import Job
from actions.domain.notices.choices import choose_mail
from actions.domain.notices.lane import MAIL, NOTICES, WEBHOOK_OFF
from actions.domain.notices.people import tell_people
from actions.domain.notices.webhooks import list_webhooks, remove_webhook
from actions.domain.notices.working import HANDLERS, take_turn, work_off_notices
from actions.models import Action, Delivery, WebhookLetter
from memoryhub.common.tenancy import tenant
from tests import mailing
from tests.actions.notices_stage import hook, noting_what_is_held
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.receiver import HERE, receiving

pytestmark = pytest.mark.django_db(transaction=True)


def states(cast: Cast) -> list[str]:
    with tenant(cast.account.id):
        return sorted(Delivery.objects.values_list("state", flat=True))


def test_nothing_of_the_database_is_held_while_an_endpoint_is_asked(
    cast: Cast, settings: Any, monkeypatch: Any
) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        with tenant(cast.account.id):
            hook(cast, receiver.url)
            proposed(cast)
        held = noting_what_is_held(monkeypatch)
        work_off_notices()
        monkeypatch.undo()
    assert held
    assert not held[0]
    assert states(cast) == ["delivered"]


def test_nothing_of_the_database_is_held_while_a_mail_server_is_asked(cast: Cast, settings: Any) -> None:
    settings.EMAIL_BACKEND = "tests.mailing.EmailBackend"
    mailing.held.clear()
    with tenant(cast.account.id):
        choose_mail(cast.owner, "each", 1)
        action = proposed(cast)
        tell_people(cast.account.id, action.id)
        Job.objects.filter(kind=MAIL).update(run_after=timezone.now())
    work_off_notices()
    assert mailing.held == [False, False]


def test_a_change_that_is_undone_tells_nobody(cast: Cast) -> None:
    with tenant(cast.account.id):
        hook(cast)
    with pytest.raises(ZeroDivisionError), tenant(cast.account.id):
        proposed(cast)
        _ = 1 / 0
    assert states(cast) == []
    assert not Job.objects.filter(lane=NOTICES.name).exists()


def test_what_a_dead_worker_held_is_sent_by_another(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        with tenant(cast.account.id):
            hook(cast, receiver.url)
            proposed(cast)
        Job.objects.filter(lane=NOTICES.name).update(leased_until=timezone.now() + timedelta(seconds=60))
        assert work_off_notices() == 0
        Job.objects.filter(lane=NOTICES.name).update(leased_until=timezone.now() - timedelta(seconds=1))
        assert work_off_notices() == 1
        assert len(receiver.heard) == 1


def test_a_fault_of_ours_leaves_the_job_for_later(cast: Cast, settings: Any) -> None:
    with tenant(cast.account.id):
        hook(cast)
        proposed(cast)
    keyring, settings.KEYRING = settings.KEYRING, ""
    assert work_off_notices() == 1
    [job] = Job.objects.filter(lane=NOTICES.name)
    assert (job.last_error, job.run_after > timezone.now()) == ("KeyringFault", True)
    settings.KEYRING = keyring
    assert states(cast) == ["pending"]


def test_several_workers_send_each_message_once(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        with tenant(cast.account.id):
            hook(cast, receiver.url, events=["action.proposed"])
            for _ in range(30):
                proposed(cast)
        threads = [threading.Thread(target=_worker) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({heard.headers["webhook-id"] for heard in receiver.heard}) == len(receiver.heard) == 30
    assert states(cast) == ["delivered"] * 30


def _worker() -> None:
    try:
        work_off_notices()
    finally:
        connection.close()


def test_several_workers_write_one_letter_a_person_about_a_webhook_that_is_gone(
    cast: Cast, settings: Any, post_office: Any
) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        receiver.answers.append(410)
        with tenant(cast.account.id):
            hook(cast, receiver.url, events=["action.proposed"])
            proposed(cast)
        work_off_message()
    with tenant(cast.account.id):
        letters = list(WebhookLetter.objects.values_list("id", flat=True))
        for _ in range(3):
            enqueue_each(WEBHOOK_OFF, cast.account.id, letters, lane=NOTICES)
    threads = [threading.Thread(target=_worker) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(post_office.letters) == 2


def work_off_message() -> None:
    """And not what follows from it."""
    [job] = claim(NOTICES, 1)
    HANDLERS[job.kind](job)
    finish([job])


def test_no_more_than_two_threads_of_a_process_send(cast: Cast, settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as receiver:
        receiver.seconds = 0.3
        with tenant(cast.account.id):
            for _ in range(4):
                hook(cast, receiver.url, events=["action.proposed"])
            proposed(cast)
        threads = [threading.Thread(target=_turn) for _ in range(4)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began >= 0.6
        assert len(receiver.heard) == 4


def _turn() -> None:
    try:
        take_turn()
    finally:
        connection.close()


def test_a_webhook_that_is_removed_at_the_same_moment_fails_no_proposal(cast: Cast) -> None:
    """Whoever removes it waits for those who are just writing to it, and takes along what they wrote."""
    with tenant(cast.account.id):
        made = hook(cast).webhook
    written, faults = threading.Event(), list[BaseException]()

    def propose_slowly() -> None:
        try:
            with tenant(cast.account.id):
                proposed(cast)
                written.set()
                time.sleep(0.5)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    thread = threading.Thread(target=propose_slowly)
    thread.start()
    written.wait(10)
    with tenant(cast.account.id):
        remove_webhook(cast.owner, made.uid)
    thread.join()
    assert faults == []
    with tenant(cast.account.id):
        assert (Action.objects.count(), list_webhooks(cast.owner), Delivery.objects.count()) == (1, [], 0)


def test_a_mail_job_of_somebody_who_is_gone_ends(cast: Cast) -> None:
    with transaction.atomic():
        enqueue(MAIL, cast.account.id, cast.account.id, lane=NOTICES)
    assert work_off_notices() == 1
    run_due_jobs()
    assert not Job.objects.filter(lane=NOTICES.name).exists()
