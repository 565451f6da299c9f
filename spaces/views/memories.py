from django.shortcuts import render

from spaces.views.requests import space_view


@space_view
def stub(request):
    return render(request, "actions/inbox.html")
