import json
from datetime import timedelta

import pytest
from django.db import connection as database
from django.utils import timezone

from accounts.models import Event
from actions.domain.notices.telling import EVENTS
from actions.domain.notices.webhooks import (
    MOST,
    Wish,
    access_webhook,
    change_webhook,
    kept_of,
    list_webhooks,
    remove_webhook,
    reseal_webhooks,
    rotate_secret,
    switch_webhook,
)
from actions.models import Delivery, Webhook
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import new_id, typed_id
from memoryhub.common.keyring import KeyringFault, new_entry
from memoryhub.common.tenancy import tenant
from spaces.domain.spaces import create_space
from tests.actions.notices_stage import hook, only_delivery
from tests.actions.stage import approve, propose, proposed
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("inside")]
URL = "https://ci.example/hub?token=a-token-in-the-address"


def stored() -> str:
    """All that the two tables hold."""
    rows = []
    with database.cursor() as cursor:
        for table in ("actions_webhook", "actions_delivery"):
            cursor.execute(f"select to_jsonb(t)::text from {table} t")
            rows += cursor.fetchall()
    return json.dumps(rows)


def test_one_is_made_with_a_secret_that_is_told_once(cast: Cast) -> None:
    made = hook(cast, URL)
    assert made.secret.startswith("whsec_")
    assert [w.id for w in list_webhooks(cast.admin)] == [made.webhook.id]
    assert made.webhook.host == "ci.example"
    assert kept_of(made.webhook).url == URL
    [event] = Event.objects.filter(object_id=made.webhook.uid)
    assert (event.type, event.summary) == ("webhook.created", "")


def test_neither_secret_nor_address_is_in_any_row_in_clear(cast: Cast) -> None:
    made = hook(cast, URL)
    proposed(cast)
    rotated = rotate_secret(cast.owner, made.webhook.uid)
    rows = stored()
    for word in (made.secret, rotated.secret, made.secret[6:], "a-token-in-the-address", "/hub"):
        assert word not in rows
    assert "v1.tests." in rows
    assert made.secret not in repr(made)
    assert URL not in repr(kept_of(made.webhook))


def test_a_sealed_secret_does_not_open_in_another_row(cast: Cast) -> None:
    one, other = hook(cast).webhook, hook(cast).webhook
    Webhook.objects.filter(id=other.id).update(sealed=one.sealed)
    other.refresh_from_db()
    with pytest.raises(KeyringFault):
        kept_of(other)


@pytest.mark.parametrize("who", ["approver", "teammate", "viewer", "agent"])
def test_they_are_for_people_who_manage(cast: Cast, who: str) -> None:
    made, actor = hook(cast).webhook, getattr(cast, who)
    for act in (
        lambda: list_webhooks(actor),
        lambda: access_webhook(actor, made.uid),
        lambda: change_webhook(actor, made.uid, Wish("x", "", EVENTS)),
        lambda: rotate_secret(actor, made.uid),
        lambda: switch_webhook(actor, made.uid, on=False),
        lambda: remove_webhook(actor, made.uid),
    ):
        with pytest.raises(Forbidden):
            act()


def test_a_key_of_the_owner_manages_none(cast: Cast) -> None:
    with pytest.raises(Forbidden, match="person"):
        list_webhooks(cast.key(user_id=cast.owner.user_id, role=cast.owner.role))


def test_one_of_another_team_is_as_absent_as_one_that_never_was(cast: Cast) -> None:
    made = hook(cast).webhook
    with tenant(cast.outsider_person.account_id):
        answers = set()
        for id in (made.uid, typed_id("whk", new_id()), "nonsense"):
            with pytest.raises(NotFound) as refusal:
                access_webhook(cast.outsider_person, id)
            answers.add(refusal.value.message)
        assert len(answers) == 1


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("url", {"url": "http://ci.example/"}),
        ("url", {"url": ""}),
        ("url", {"url": "https://127.0.0.1/"}),
        ("url", {"url": "https://user:secret@ci.example/"}),
        ("name", {"name": " "}),
        ("name", {"name": "x" * 121}),
        ("name", {"name": "Bank\u202e"}),
        ("events", {"events": []}),
        ("events", {"events": ["memory.created"]}),
        ("space", {"space": "nowhere"}),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(cast: Cast, field: str, wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        hook(cast, **wrong)
    assert list(refusal.value.fields) == [field]
    assert not Webhook.objects.exists()


def test_there_is_an_end_to_how_many(cast: Cast) -> None:
    for _ in range(MOST):
        hook(cast)
    with pytest.raises(Conflict):
        hook(cast)


def test_a_change_keeps_the_address_unless_another_is_given(cast: Cast) -> None:
    made = hook(cast, URL)
    change_webhook(cast.owner, made.webhook.uid, Wish("Other", "", ["action.done"], space="main"))
    changed = access_webhook(cast.owner, made.webhook.uid)
    assert (changed.name, changed.events, changed.space_id) == ("Other", ["action.done"], cast.space.id)
    assert kept_of(changed).url == URL
    change_webhook(cast.owner, made.webhook.uid, Wish("Other", "https://else.example/", ["action.done"]))
    changed = access_webhook(cast.owner, made.webhook.uid)
    assert (changed.host, changed.space, kept_of(changed).secret) == ("else.example", None, made.secret)


def test_rotating_keeps_the_last_secret_for_a_day(cast: Cast, clock) -> None:
    made = hook(cast)
    rotated = rotate_secret(cast.owner, made.webhook.uid)
    kept = kept_of(rotated.webhook)
    assert (kept.secret, kept.former) == (rotated.secret, made.secret)
    assert made.secret != rotated.secret
    assert rotated.webhook.former_until - timezone.now() == timedelta(hours=24)
    again = rotate_secret(cast.owner, made.webhook.uid)
    assert made.secret not in kept_of(again.webhook).former


def test_under_a_new_key_everything_is_sealed_anew_and_opens_without_the_old(cast: Cast, settings) -> None:
    made = hook(cast, URL)
    old, settings.KEYRING = settings.KEYRING, f"{new_entry()},{settings.KEYRING}"
    assert (reseal_webhooks(cast.account.id), reseal_webhooks(cast.account.id)) == (1, 0)
    settings.KEYRING = settings.KEYRING.removesuffix(f",{old}")
    assert kept_of(access_webhook(cast.owner, made.webhook.uid)).secret == made.secret


def test_every_event_of_an_action_reaches_who_asked_for_it(cast: Cast, clock) -> None:
    made = hook(cast, events=["action.approved", "action.rejected"]).webhook
    approve(cast.approver, proposed(cast))
    delivery = only_delivery()
    assert (delivery.event, delivery.webhook_id) == ("action.approved", made.id)
    told = json.loads(delivery.body)
    assert (told["type"], told["data"]["account"], told["data"]["space"]) == (
        "action.approved",
        "acme",
        "main",
    )
    assert told["data"]["by"] == cast.approver.key


def test_a_message_holds_neither_payload_nor_words_of_an_agent(cast: Cast) -> None:
    hook(cast)
    action = propose(
        cast.agent, summary="secret plan", payload={"to": "victim@example.com"}, meta={"note": "hidden words"}
    ).action
    body = only_delivery().body
    for word in ("secret plan", "victim", "hidden words", action.current.digest, action.idempotency_key):
        assert word not in body
    assert f"/a/acme/main/actions/{action.short_id}/" in body


def test_one_of_a_space_hears_of_that_space_alone(cast: Cast) -> None:
    create_space(cast.owner, name="Other", slug="other")
    here, there = hook(cast, space="main").webhook, hook(cast, space="other").webhook
    everywhere = hook(cast).webhook
    proposed(cast)
    heard = set(Delivery.objects.values_list("webhook_id", flat=True))
    assert heard == {here.id, everywhere.id}
    assert there.id not in heard


def test_one_that_is_off_is_told_nothing_and_what_waited_is_given_up(cast: Cast) -> None:
    made = hook(cast).webhook
    proposed(cast)
    switch_webhook(cast.owner, made.uid, on=False)
    assert (only_delivery().state, only_delivery().trouble) == ("failed", "switched off")
    proposed(cast)
    assert Delivery.objects.count() == 1
    switch_webhook(cast.owner, made.uid, on=True)
    proposed(cast)
    assert Delivery.objects.count() == 2


def test_removing_one_takes_its_secret_and_what_was_sent(cast: Cast) -> None:
    made = hook(cast).webhook
    proposed(cast)
    remove_webhook(cast.owner, made.uid)
    assert (Webhook.objects.count(), Delivery.objects.count()) == (0, 0)
    assert Event.objects.filter(object_id=made.uid, type="webhook.removed").exists()


def test_a_team_hears_nothing_of_another(cast: Cast) -> None:
    with tenant(cast.outsider_person.account_id):
        hook(Cast(**{**vars(cast), "owner": cast.outsider_person}))
    proposed(cast)
    with tenant(cast.outsider_person.account_id):
        assert Delivery.objects.count() == 0
    assert Delivery.objects.count() == 0
