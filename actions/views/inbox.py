from django.http import HttpResponse, JsonResponse
from django.shortcuts import render

from spaces.views.requests import SpaceRequest, space_view


@space_view
def inbox(request: SpaceRequest) -> HttpResponse:
    return render(request, "actions/inbox.html")


@space_view
def pulse(request: SpaceRequest) -> HttpResponse:
    return JsonResponse({"version": request.space.inbox_version, "waiting": 0})
