from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.domain.sessions import end_session
from accounts.views.requests import MemberRequest


@require_POST
@login_required
def end(request: MemberRequest, session: int) -> HttpResponse:
    end_session(request.user, session)
    messages.success(request, _("That session has ended."))
    return redirect("usersessions_list")
