from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.domain.acting import acting_for
from accounts.views.requests import MemberRequest


@never_cache
@require_safe
@login_required
def acting(request: MemberRequest) -> HttpResponse:
    return render(request, "account/acting.html", {"teams": acting_for(request.user)})
