from django.urls import path

from actions.views import actions, connections, inbox, notices, policies

TEAM = "a/<slug:account>/"
SPACE = f"{TEAM}<slug:space>/"

urlpatterns = [
    path(f"{SPACE}inbox/", inbox.inbox, name="inbox"),
    path(f"{SPACE}inbox/together/", inbox.together, name="inbox-together"),
    path(f"{SPACE}inbox/pulse/", inbox.pulse, name="pulse"),
    path(f"{SPACE}actions/<str:action>/", actions.action, name="action"),
    path(f"{SPACE}actions/<str:action>/approve/", actions.approve, name="action-approve"),
    path(f"{SPACE}actions/<str:action>/reject/", actions.reject, name="action-reject"),
    path(f"{SPACE}actions/<str:action>/end/", actions.end, name="action-end"),
    path(f"{SPACE}actions/<str:action>/edit/", actions.edit, name="action-edit"),
    path(f"{SPACE}actions/<str:action>/snooze/", actions.snooze, name="action-snooze"),
    path(f"{SPACE}actions/<str:action>/settle/", actions.settle, name="action-settle"),
    path(f"{SPACE}policies/", policies.policies, name="policies"),
    path(f"{SPACE}policies/new/", policies.new_policy, name="policy-new"),
    path(f"{SPACE}policies/<str:policy>/", policies.policy, name="policy"),
    path(f"{SPACE}policies/<str:policy>/end/", policies.end, name="policy-end"),
    path(f"{SPACE}stop/", connections.stop_space, name="stop-space"),
    path("connections/callback/<slug:vendor>/", connections.come_back_here, name="connection-callback"),
    path(f"{TEAM}connections/", connections.connections, name="connections"),
    path(f"{TEAM}connections/stop-all/", connections.stop_team, name="stop-team"),
    path(f"{TEAM}connections/new/<slug:vendor>/", connections.new_connection, name="connection-new"),
    path(f"{TEAM}connections/<str:connection>/check/", connections.check, name="connection-check"),
    path(f"{TEAM}connections/<str:connection>/revoke/", connections.revoke, name="connection-revoke"),
    path(f"{TEAM}notifications/", notices.notifications, name="notifications"),
    path(f"{TEAM}notifications/slack/", notices.in_slack, name="notifications-slack"),
    path(f"{TEAM}webhooks/new/", notices.new_webhook, name="webhook-new"),
    path(f"{TEAM}webhooks/<str:webhook>/", notices.webhook, name="webhook"),
    path(f"{TEAM}webhooks/<str:webhook>/change/", notices.change, name="webhook-change"),
    path(f"{TEAM}webhooks/<str:webhook>/rotate/", notices.rotate, name="webhook-rotate"),
    path(f"{TEAM}webhooks/<str:webhook>/switch/", notices.switch, name="webhook-switch"),
    path(f"{TEAM}webhooks/<str:webhook>/remove/", notices.remove, name="webhook-remove"),
    path(f"{TEAM}webhooks/<str:webhook>/test/", notices.test, name="webhook-test"),
    path(f"{TEAM}webhooks/<str:webhook>/again/<str:delivery>/", notices.again, name="webhook-again"),
]
