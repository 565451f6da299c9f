import json
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Standard

from accounts.models import Event, Job
from actions.domain.notices.deliveries import deliver_again, list_deliveries, purge_notices, send_test
from actions.domain.notices.sending import LONGEST_REST, deliver
from actions.domain.notices.webhooks import access_webhook, rotate_secret, switch_webhook
from actions.domain.notices.working import work_off_notices
from actions.models import Delivery
from memoryhub.common.errors import Conflict, Forbidden, NotFound
from tests.actions.notices_stage import hook, only_delivery
from tests.actions.stage import proposed
from tests.conftest import Cast
from tests.receiver import HERE, Receiver, knocks, receiving, resolving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside", "clock")]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.OUTGOING_NETWORKS = HERE
    with receiving() as found:
        yield found


def due() -> int:
    return Job.objects.filter(lane="notices", run_after__lte=timezone.now()).count()


def waits() -> float:
    """Seconds until the next try."""
    [job] = Job.objects.filter(lane="notices")
    return (job.run_after - timezone.now()).total_seconds()


def test_a_message_arrives_signed_and_is_noted(cast: Cast, receiver: Receiver) -> None:
    made = hook(cast, receiver.url)
    action = proposed(cast)
    assert work_off_notices() == 1
    [heard] = receiver.heard
    assert (heard.path, heard.headers["content-type"]) == ("/hook", "application/json")
    delivery = only_delivery()
    assert (delivery.state, delivery.tries, delivery.status, delivery.trouble) == ("delivered", 1, 204, "")
    assert heard.headers["webhook-id"] == delivery.message_id
    assert json.loads(heard.body)["data"]["action"]["id"] == action.uid
    assert Standard(made.secret).verify(heard.body, heard.headers)
    assert (due(), work_off_notices()) == (0, 0)


def test_after_a_rotation_either_secret_checks_it_for_a_day(
    cast: Cast, receiver: Receiver, clock: Any
) -> None:
    made = hook(cast, receiver.url)
    new = rotate_secret(cast.owner, made.webhook.uid)
    proposed(cast)
    work_off_notices()
    for secret in (made.secret, new.secret):
        assert Standard(secret).verify(receiver.heard[0].body, receiver.heard[0].headers)
    clock.shift(timedelta(hours=24, seconds=1))
    send_test(cast.owner, made.webhook.uid)
    work_off_notices()
    assert " " not in receiver.heard[1].headers["webhook-signature"]
    assert Standard(new.secret).verify(receiver.heard[1].body, receiver.heard[1].headers)


@pytest.mark.parametrize("status", [300, 302, 400, 401, 404, 429, 500, 503])
def test_whatever_is_no_success_is_tried_again_under_the_same_id(
    cast: Cast, receiver: Receiver, clock: Any, status: int
) -> None:
    hook(cast, receiver.url)
    proposed(cast)
    receiver.answers.append(status)
    work_off_notices()
    delivery = only_delivery()
    assert (delivery.state, delivery.tries, delivery.status) == ("pending", 1, status)
    assert 4 <= waits() <= 6
    clock.shift(timedelta(seconds=7))
    work_off_notices()
    assert only_delivery().state == "delivered"
    first, second = receiver.heard
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert (first.body, first.headers["webhook-timestamp"]) != (
        second.body,
        second.headers["webhook-timestamp"],
    )
    assert first.body == second.body


def test_it_waits_longer_each_time_and_gives_up_after_a_day(
    cast: Cast, receiver: Receiver, clock: Any
) -> None:
    hook(cast, receiver.url)
    proposed(cast)
    began, pauses = timezone.now(), []
    receiver.answers.extend([500] * 50)
    while only_delivery().state == "pending":
        work_off_notices()
        if only_delivery().state == "pending":
            pauses.append(waits())
            clock.shift(timedelta(seconds=pauses[-1] + 1))
    delivery = only_delivery()
    assert (delivery.state, delivery.trouble) == ("failed", "answered 500")
    assert timedelta(hours=12) < delivery.tried_at - began <= timedelta(hours=24)
    assert 8 <= delivery.tries <= 12
    assert all(later > 1.2 * sooner for sooner, later in pairwise(pauses[:7]))
    assert access_webhook(cast.owner, delivery.webhook.uid).off == ""


def test_when_the_receiver_says_how_long_it_waits_so_long(cast: Cast, receiver: Receiver) -> None:
    hook(cast, receiver.url)
    proposed(cast)
    receiver.answers.append((429, {"Retry-After": "120"}))
    work_off_notices()
    assert waits() == pytest.approx(120, abs=1)


def test_an_endpoint_that_is_down_rests_and_the_others_wait_without_a_try(
    cast: Cast, receiver: Receiver
) -> None:
    hook(cast, receiver.url)
    for _ in range(5):
        proposed(cast)
    receiver.answers.extend([503] * 9)
    work_off_notices()
    assert len(receiver.heard) == 1
    assert sorted(Delivery.objects.values_list("tries", flat=True)) == [0, 0, 0, 0, 1]


def test_a_refusal_of_one_message_holds_up_no_other(cast: Cast, receiver: Receiver) -> None:
    hook(cast, receiver.url)
    for _ in range(3):
        proposed(cast)
    receiver.answers.extend([400])
    work_off_notices()
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["delivered", "delivered", "pending"]


def test_one_that_is_gone_is_switched_off_at_once(cast: Cast, receiver: Receiver) -> None:
    made = hook(cast, receiver.url).webhook
    proposed(cast)
    receiver.answers.append(410)
    work_off_notices()
    assert access_webhook(cast.owner, made.uid).off == "gone"
    assert only_delivery().state == "failed"
    [event] = Event.objects.filter(object_id=made.uid, type="webhook.disabled")
    assert (event.actor, event.summary) == ("system:system", "gone")


def fail_for_a_day(cast: Cast, clock: Any) -> None:
    proposed(cast)
    last = Delivery.objects.order_by("-created_at", "-id").first()
    while Delivery.objects.get(id=last.id).state == "pending":
        clock.shift(timedelta(hours=9))
        work_off_notices()


def test_one_that_fails_for_three_days_is_switched_off(cast: Cast, settings: Any, clock: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE
    made = hook(cast, "http://127.0.0.1:9/").webhook
    days = 0
    while not access_webhook(cast.owner, made.uid).off:
        fail_for_a_day(cast, clock)
        days += 1
    assert 3 <= days <= 4
    assert access_webhook(cast.owner, made.uid).off == "failing"
    proposed(cast)
    assert Delivery.objects.filter(state="pending").count() == 0


def test_a_success_makes_the_failures_before_it_forgotten(cast: Cast, receiver: Receiver, clock: Any) -> None:
    made = hook(cast, receiver.url).webhook
    proposed(cast)
    receiver.answers.append(500)
    work_off_notices()
    assert access_webhook(cast.owner, made.uid).failing_since
    clock.shift(LONGEST_REST)
    work_off_notices()
    webhook = access_webhook(cast.owner, made.uid)
    assert (webhook.failing_since, webhook.rests_until) == (None, None)


def test_nothing_of_what_is_answered_is_kept(cast: Cast, receiver: Receiver) -> None:
    hook(cast, receiver.url)
    receiver.body = b"heliotrope"
    for status in (200, 500):
        receiver.answers.append(status)
        proposed(cast)
        work_off_notices()
    kept = list(Delivery.objects.values())
    assert len(kept) == 2
    assert "heliotrope" not in str(kept)


def test_a_name_that_turns_inside_after_it_was_given_is_not_connected_to(
    cast: Cast, monkeypatch: Any
) -> None:
    with knocks() as (_port, came):
        resolving(monkeypatch, {"turn.example": ["127.0.0.1"]})
        hook(cast, "https://turn.example/")
        proposed(cast)
        work_off_notices()
        assert came == []
    delivery = only_delivery()
    assert (delivery.state, delivery.trouble) == (
        "pending",
        "its host leads to an address that is not public",
    )


def test_a_test_is_sent_like_everything_else(cast: Cast, receiver: Receiver) -> None:
    made = hook(cast, receiver.url)
    sent = send_test(cast.admin, made.webhook.uid)
    work_off_notices()
    [heard] = receiver.heard
    told = Standard(made.secret).verify(heard.body, heard.headers)
    assert (told["type"], told["data"]) == ("webhook.test", {"account": "acme", "webhook": made.webhook.uid})
    assert list_deliveries(cast.owner, made.webhook).items == [sent]


def test_what_was_given_up_is_sent_again_on_demand(cast: Cast, receiver: Receiver, clock: Any) -> None:
    made = hook(cast, receiver.url).webhook
    proposed(cast)
    receiver.answers.extend([500] * 30)
    fail_for = only_delivery()
    while only_delivery().state == "pending":
        clock.shift(timedelta(hours=9))
        work_off_notices()
    receiver.answers.clear()
    deliver_again(cast.owner, made.uid, fail_for.uid)
    work_off_notices()
    delivery = only_delivery()
    assert (delivery.state, delivery.tries, delivery.message_id) == ("delivered", 1, fail_for.message_id)
    assert receiver.heard[-1].body == receiver.heard[0].body


def test_what_is_on_its_way_or_off_is_not_sent_again(cast: Cast, receiver: Receiver) -> None:
    made = hook(cast, receiver.url).webhook
    proposed(cast)
    with pytest.raises(Conflict, match="already"):
        deliver_again(cast.owner, made.uid, only_delivery().uid)
    switch_webhook(cast.owner, made.uid, on=False)
    for act in (
        lambda: deliver_again(cast.owner, made.uid, only_delivery().uid),
        lambda: send_test(cast.owner, made.uid),
    ):
        with pytest.raises(Conflict, match="off"):
            act()
    work_off_notices()
    assert receiver.heard == []


def test_a_delivery_belongs_to_its_webhook(cast: Cast) -> None:
    one, other = hook(cast, events=["action.proposed"]).webhook, hook(cast, events=["action.done"]).webhook
    proposed(cast)
    with pytest.raises(NotFound):
        deliver_again(cast.owner, other.uid, only_delivery().uid)
    with pytest.raises(Forbidden):
        deliver_again(cast.approver, one.uid, only_delivery().uid)


def test_a_job_that_comes_twice_sends_once(cast: Cast, receiver: Receiver) -> None:
    hook(cast, receiver.url)
    proposed(cast)
    delivery = only_delivery()
    assert deliver(cast.account.id, delivery.id) is None
    assert deliver(cast.account.id, delivery.id) is None
    assert len(receiver.heard) == 1


def test_what_is_over_a_month_old_goes_unless_it_waits(cast: Cast, receiver: Receiver, clock: Any) -> None:
    hook(cast, receiver.url)
    proposed(cast)
    work_off_notices()
    proposed(cast)
    clock.shift(timedelta(days=31))
    purge_notices(cast.account.id)
    assert only_delivery().state == "pending"
