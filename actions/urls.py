from django.urls import path

from actions.views import actions, inbox

SPACE = "a/<slug:account>/<slug:space>/"

urlpatterns = [
    path(f"{SPACE}inbox/", inbox.inbox, name="inbox"),
    path(f"{SPACE}inbox/pulse/", inbox.pulse, name="pulse"),
    path(f"{SPACE}actions/<str:action>/", actions.action, name="action"),
    path(f"{SPACE}actions/<str:action>/approve/", actions.approve, name="action-approve"),
    path(f"{SPACE}actions/<str:action>/reject/", actions.reject, name="action-reject"),
    path(f"{SPACE}actions/<str:action>/end/", actions.end, name="action-end"),
]
