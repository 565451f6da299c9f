"""WebSocket addresses of the actions app."""

from django.urls import re_path

from actions.consumers import LiveConsumer

websocket_urlpatterns = [
    re_path(r"^a/(?P<account>[-\w]+)/(?P<space>[-\w]+)/live$", LiveConsumer.as_asgi()),
]
