from django.urls import path

from memoryhub.pages import forgetting

urlpatterns = [
    path("a/<slug:account>/<slug:space>/forget/", forgetting.forgetting, name="forget"),
]
