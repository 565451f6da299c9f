from django.shortcuts import render

from spaces.views.requests import space_view


@space_view
def action(request, action):
    return render(request, "actions/action.html")


approve = reject = action
