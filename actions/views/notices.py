"""When a person is written to, and an account's webhooks."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.domain.addresses import is_proven, mail_is_sent
from accounts.middleware import takes_secrets
from accounts.scopes import ROLE_RIGHTS, Right
from accounts.views.fresh import fresh_sign_in_required, fresh_to_post
from accounts.views.requests import MemberRequest
from actions.connectors.slack_people import NOBODY
from actions.domain.notices.choices import (
    NOT_CONNECTED,
    SIGNED_OUT,
    UNCLEAR,
    choice_of,
    choose_mail,
    choose_slack,
    slack_offer,
)
from actions.domain.notices.deliveries import deliver_again, list_deliveries, send_test
from actions.domain.notices.webhooks import (
    Wish,
    access_webhook,
    change_webhook,
    check_may_manage,
    create_webhook,
    list_webhooks,
    remove_webhook,
    rotate_secret,
    switch_webhook,
)
from actions.forms import MailForm, WebhookForm
from actions.models import Webhook
from memoryhub.common.errors import HubError, ValidationFailed
from memoryhub.common.odd import visible
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import list_spaces


def the_webhook(account: str, webhook: str, **_kwargs: str) -> str:
    return reverse("webhook", args=[account, webhook])


def notifications(request: MemberRequest, account: str) -> HttpResponse:
    choice = choice_of(request.actor.account_id, request.user.id)
    form = MailForm(request.POST or None, initial={"mode": choice.mode, "hours": choice.hours})
    if form.is_valid():
        choose_mail(request.actor, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("notifications", account)
    manages, offer = request.actor.has(Right.MANAGE), slack_offer(request.actor)
    context = {
        "form": form,
        "mails": mail_is_sent(),
        "proven": is_proven(request.user),
        "slack": offer,
        "slack_trouble": slack_trouble(offer.trouble) if offer.on else "",
        "decides": Right.DECIDE in ROLE_RIGHTS[request.actor.role],
        "manages": manages,
        "webhooks": list_webhooks(request.actor) if manages else [],
    }
    return render(request, "notices/notifications.html", context, status=form_status(form))


@require_POST
def in_slack(request: MemberRequest, account: str) -> HttpResponse:
    chosen = choose_slack(request.actor, on=_yes(request))
    on, off = _("You are told in Slack too, from now on."), _("You are not told in Slack any more.")
    messages.success(request, on if chosen.slack else off)
    return redirect("notifications", account)


def slack_trouble(why: str) -> str:
    """Why the last message didn't arrive, and what helps."""
    words = {
        "": "",
        NOT_CONNECTED: _("The team’s Slack is not connected any more."),
        SIGNED_OUT: _("Slack no longer accepts the team’s connection: an owner or admin connects it anew."),
        "missing_scope": _("The team’s connection may not do that: an owner or admin connects Slack anew."),
        NOBODY: _("Slack knows nobody with your address. Use the same one here and there."),
        UNCLEAR: _("It is not known whether it arrived, and it is not sent again."),
    }
    return words[why] if why in words else _("It didn’t work: %(why)s.") % {"why": visible(why)}


@takes_secrets("url")
@never_cache
@fresh_sign_in_required
def new_webhook(request: MemberRequest, account: str) -> HttpResponse:
    """The secret is on the answer, this once."""
    check_may_manage(request.actor)
    form = _form(request)
    if form.is_valid():
        try:
            made = create_webhook(request.actor, Wish(**form.cleaned_data))
        except HubError as error:
            show_refusal(form, error)
        else:
            return render(request, "notices/secret.html", {"made": made})
    return render(request, "notices/new.html", {"form": form}, status=form_status(form))


@require_safe
def webhook(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    found = access_webhook(request.actor, webhook)
    page = list_deliveries(request.actor, found, token=request.GET.get("page"))
    context = {"webhook": found, "deliveries": page.items, "next_token": page.next_token}
    return render(request, "notices/webhook.html", context)


@takes_secrets("url")
@never_cache
@fresh_sign_in_required
def change(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    found = access_webhook(request.actor, webhook)
    form = _form(request, found)
    if form.is_valid():
        try:
            change_webhook(request.actor, webhook, Wish(**form.cleaned_data))
        except HubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, _("Saved. It holds for what happens from now on."))
            return redirect("webhook", account, webhook)
    context = {"form": form, "webhook": found}
    return render(request, "notices/change.html", context, status=form_status(form))


@never_cache
@require_POST
@fresh_to_post(the_webhook)
def rotate(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    context = {"made": rotate_secret(request.actor, webhook), "rotated": True}
    return render(request, "notices/secret.html", context)


@require_POST
def switch(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    switched = switch_webhook(request.actor, webhook, on=_yes(request))
    messages.success(request, _("It is off now.") if switched.off else _("It is on again."))
    return redirect("webhook", account, webhook)


@require_POST
@fresh_to_post(the_webhook)
def remove(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    name = access_webhook(request.actor, webhook).name
    remove_webhook(request.actor, webhook)
    messages.success(request, _("%(name)s is removed.") % {"name": visible(name)})
    return redirect("notifications", account)


@require_POST
def test(request: MemberRequest, account: str, webhook: str) -> HttpResponse:
    send_test(request.actor, webhook)
    messages.success(request, _("A test is on its way. How it went is told below in a moment."))
    return redirect("webhook", account, webhook)


@require_POST
def again(request: MemberRequest, account: str, webhook: str, delivery: str) -> HttpResponse:
    deliver_again(request.actor, webhook, delivery)
    messages.success(request, _("It is sent again, under the same id."))
    return redirect("webhook", account, webhook)


def _yes(request: MemberRequest) -> bool:
    said = request.POST.get("on", "")
    if said not in ("yes", "no"):
        raise ValidationFailed({"on": ["Must be yes or no."]})
    return said == "yes"


def _form(request: MemberRequest, kept: Webhook | None = None) -> WebhookForm:
    spaces = [(space.slug, visible(space.name)) for space in list_spaces(request.actor)]
    return WebhookForm(request.POST or None, spaces=spaces, initial=_initial(kept), kept=kept is not None)


def _initial(kept: Webhook | None) -> dict[str, Any]:
    if kept is None:
        return {}
    return {"name": kept.name, "events": kept.events, "space": kept.space.slug if kept.space else ""}
