"""The people of a team: who they are, what each may do where and why, and how they come and go."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.domain.addresses import mail_is_sent
from accounts.domain.invitations import check_may_invite, invite, list_invitations, withdraw_invitation
from accounts.domain.letters import invitation_link
from accounts.domain.members import (
    access_member,
    change_role,
    check_may_manage_members,
    list_members,
    may_change,
    roles_to_give,
    with_second_step,
)
from accounts.forms import ROLE_NAMES, InviteForm
from accounts.models import Membership
from accounts.scopes import Right, Role
from accounts.views.fresh import fresh_to_post
from accounts.views.requests import MemberRequest
from memoryhub.common.errors import Forbidden, HubError, ValidationFailed
from memoryhub.common.ids import typed_id
from memoryhub.flows.offboarding import preview_leaving, remove_member
from memoryhub.pages.reasons import RIGHT_NAMES, answer, reason
from memoryhub.web.forms import form_status, show_refusal
from spaces.domain.access import list_spaces
from spaces.domain.members import Reach, reach_of, set_space_role, set_visibility
from spaces.models.spaces import ACCOUNT_WIDE_ROLES, VISIBILITIES


def the_list(account: str, **_kwargs: str) -> str:
    return reverse("members", args=[account])


def the_person(account: str, person: str, **_kwargs: str) -> str:
    return reverse("member", args=[account, person])


@never_cache
@require_safe
def members(request: MemberRequest, account: str) -> HttpResponse:
    return _list(request, InviteForm(None, roles=roles_to_give(request.actor)))


def _list(request: MemberRequest, form: InviteForm) -> HttpResponse:
    people = list_members(request.actor)
    twice = with_second_step(people)
    context = {
        "members": [_line(request, member) | {"twice": member.user_id in twice} for member in people],
        "invitations": list_invitations(request.actor),
        "spaces": list_spaces(request.actor),
        "form": form,
        "may_manage": request.actor.has(Right.MANAGE),
        "mails": mail_is_sent(),
    }
    return render(request, "members/members.html", context, status=form_status(form))


def _line(request: MemberRequest, member: Membership) -> dict[str, Any]:
    is_self = member.user_id == request.actor.user_id
    opens = request.actor.has(Right.MANAGE) or is_self
    return {
        "member": member,
        "id": typed_id("usr", member.user_id),
        "role": ROLE_NAMES[Role(member.role)],
        "opens": opens,
        "erases": may_change(request.actor, member) and not is_self,
    }


@never_cache
@require_POST
@fresh_to_post(the_list)
def invite_member(request: MemberRequest, account: str) -> HttpResponse:
    """The link is on the answer, this once."""
    check_may_invite(request.actor, Role.MEMBER)
    form = InviteForm(request.POST, roles=roles_to_give(request.actor))
    if form.is_valid():
        try:
            made = invite(request.actor, Role(form.cleaned_data["role"]), email=form.cleaned_data["email"])
        except HubError as error:
            show_refusal(form, error)
        else:
            context = {"made": made, "link": invitation_link(made.token), "mails": mail_is_sent()}
            return render(request, "members/invited.html", context)
    return _list(request, form)


@require_POST
@fresh_to_post(the_list)
def withdraw(request: MemberRequest, account: str, invitation: str) -> HttpResponse:
    withdraw_invitation(request.actor, invitation)
    messages.success(request, _("The invitation is withdrawn. Its link ends now."))
    return redirect("members", account)


@require_POST
@fresh_to_post(the_list)
def open_space(request: MemberRequest, account: str, of: str) -> HttpResponse:
    """To the whole team, or to named people only."""
    space = set_visibility(request.actor, request.POST.get("visibility", ""), space=of)
    everybody = space.visibility == VISIBILITIES[0]
    words = _("The whole team sees the space.") if everybody else _("Only those who are named see the space.")
    messages.success(request, words)
    return redirect("members", account)


@never_cache
@require_safe
def member(request: MemberRequest, account: str, person: str) -> HttpResponse:
    found = access_member(request.actor, person)
    if found.user_id != request.actor.user_id:
        check_may_manage_members(request.actor)
    reaches = reach_of(found, list_spaces(request.actor))
    changes = may_change(request.actor, found)
    context = {
        "member": found,
        "id": person,
        "role": ROLE_NAMES[Role(found.role)],
        "rows": [_reach(found, reach) for reach in reaches],
        "rights": RIGHT_NAMES,
        "answer": answer(found, reaches, request.GET.get("space", ""), request.GET.get("right", "")),
        "roles": [(str(role), ROLE_NAMES[role]) for role in roles_to_give(request.actor, found)],
        "narrows": found.role not in ACCOUNT_WIDE_ROLES,
        "space_roles": [(str(role), ROLE_NAMES[role]) for role in Role if role not in ACCOUNT_WIDE_ROLES],
        "leaving": preview_leaving(request.actor, person) if changes else None,
        "changes": changes,
        "is_self": found.user_id == request.actor.user_id,
    }
    return render(request, "members/member.html", context)


def _reach(member: Membership, reach: Reach) -> dict[str, Any]:
    return {
        "reach": reach,
        "role": ROLE_NAMES[reach.role] if reach.role else "",
        "reason": reason(member, reach),
        "cells": [(right, name, right in reach.rights) for right, name in RIGHT_NAMES.items()],
    }


@require_POST
@fresh_to_post(the_person)
def change(request: MemberRequest, account: str, person: str) -> HttpResponse:
    changed = change_role(request.actor, person, _role(request.POST.get("role", "")))
    messages.success(request, _("Their role is %(role)s now.") % {"role": ROLE_NAMES[Role(changed.role)]})
    return redirect("member", account, person)


@require_POST
@fresh_to_post(the_person)
def change_in_space(request: MemberRequest, account: str, person: str) -> HttpResponse:
    role, space = request.POST.get("role", ""), request.POST.get("space", "")
    set_space_role(request.actor, person, _role(role) if role else None, space=space)
    messages.success(request, _("Their role in this space holds from now on."))
    return redirect("member", account, person)


@require_POST
@fresh_to_post(the_person)
def remove(request: MemberRequest, account: str, person: str) -> HttpResponse:
    found = access_member(request.actor, person)
    if found.user_id == request.actor.user_id:
        raise Forbidden("You can't remove yourself. Ask another owner or admin.")
    remove_member(request.actor, person)
    name = found.user.get_full_name()
    messages.success(
        request, _("%(name)s is no longer of this team. What they wrote stays.") % {"name": name}
    )
    return redirect("members", account)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise ValidationFailed({"role": [f"Must be one of {', '.join(Role)}."]}) from None
