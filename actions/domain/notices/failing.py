"""A webhook that is of no use any more is switched off, and who manages it gets one letter about that.

Whether a letter was begun is kept before it goes. Where a worker ends in that moment nobody knows whether it went;
the webhook's page says the same, so it is not written again.
"""

from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.actor import system_actor
from accounts.domain.addresses import mail_is_sent
from accounts.domain.jobs import Wait, enqueue_each
from accounts.models import User
from actions.domain.notices.choices import choice_of
from actions.domain.notices.lane import NOTICES, WEBHOOK_OFF
from actions.domain.notices.letters import Letter, send_letter
from actions.domain.notices.people import may_manage
from actions.domain.notices.waiting import reachable
from actions.domain.notices.webhooks import switch_off
from actions.models import MailMode, Switched, Webhook, WebhookLetter
from memoryhub.common.odd import visible
from memoryhub.common.tenancy import tenant


def disable(webhook: Webhook, why: Switched, trouble: str) -> None:
    """By the system, on the locked row: it is of no use to go on."""
    switch_off(system_actor(webhook.account_id), webhook, why)
    if mail_is_sent():
        _have_written(webhook, trouble)


def _have_written(webhook: Webhook, trouble: str) -> None:
    """In place of what wasn't sent of the time before."""
    now, here = timezone.now(), {"account_id": webhook.account_id, "webhook": webhook}
    WebhookLetter.objects.filter(**here, told_at=None).delete()
    people = [p for p in may_manage(webhook.account_id) if _hears(webhook.account_id, p)]
    since = webhook.failing_since or now
    letters = [
        WebhookLetter(**here, user_id=person, since=since, trouble=trouble, created_at=now)
        for person in people
    ]
    WebhookLetter.objects.bulk_create(letters)
    enqueue_each(WEBHOOK_OFF, webhook.account_id, [letter.id for letter in letters], lane=NOTICES)


def write_about(account_id: UUID, letter_id: UUID, tries: int) -> Wait:
    """Answers when to try again, or None when there is nothing left to do."""
    with tenant(account_id):
        letter = _begin(account_id, letter_id)
    wait = send_letter(letter, tries) if letter else None
    if wait is not None:
        with tenant(account_id):
            WebhookLetter.objects.filter(account_id=account_id, id=letter_id).update(told_at=None)
    return wait


def _begin(account_id: UUID, letter_id: UUID) -> Letter | None:
    """Only one worker does; none if the webhook is on again, or it is no longer theirs to know."""
    rows = WebhookLetter.objects.filter(account_id=account_id, id=letter_id)
    if not rows.filter(told_at=None).update(told_at=timezone.now()):
        return None
    about = rows.select_related("webhook__account").get()
    person = reachable(about.user_id)
    theirs = person and may_manage(account_id, only=person.id) and _hears(account_id, person.id)
    return _letter(about, person) if person and theirs and about.webhook.off else None


def _hears(account_id: UUID, person: UUID) -> bool:
    return choice_of(account_id, person).mode is not MailMode.NONE


def _letter(about: WebhookLetter, person: User) -> Letter:
    webhook = about.webhook
    home = f"{settings.PUBLIC_URL}/a/{webhook.account.slug}"
    context = {
        "name": visible(webhook.name),
        "host": visible(webhook.host),
        "team": webhook.account.slug,
        "gone": webhook.off == Switched.GONE,
        "since": about.since,
        "trouble": about.trouble,
        "link": f"{home}/webhooks/{webhook.uid}/",
        "choose": f"{home}/notifications/",
    }
    with translation.override(settings.LANGUAGE_CODE), timezone.override(person.time_zone):
        subject, _, body = render_to_string("letters/webhook_off.txt", context).strip().partition("\n")
    return Letter(person.id, person.email, subject.strip(), body.strip() + "\n")
