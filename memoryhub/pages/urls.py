from django.urls import path

from memoryhub.pages import data, erasing, forgetting

urlpatterns = [
    path("a/<slug:account>/<slug:space>/data/", data.data, name="data"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/", data.transfer, name="data-transfer"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/cancel/", data.cancel, name="data-cancel"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/import/", data.confirm, name="data-import"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/download/", data.take, name="data-download"),
    path("a/<slug:account>/<slug:space>/erase/", erasing.erase, name="erase"),
    path("a/<slug:account>/members/<str:person>/erase/", erasing.erase_person, name="erase-person"),
    path("a/<slug:account>/<slug:space>/forget/", forgetting.forgetting, name="forget"),
]
