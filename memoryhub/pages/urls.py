from django.urls import path

from memoryhub.pages import data, erasing, forgetting, members

TEAM = "a/<slug:account>/members/"
PERSON = f"{TEAM}person/<str:person>/"

urlpatterns = [
    path(TEAM, members.members, name="members"),
    path(f"{TEAM}invite/", members.invite_member, name="member-invite"),
    path(f"{TEAM}invitation/<str:invitation>/withdraw/", members.withdraw, name="member-withdraw"),
    path(f"{TEAM}space/<slug:of>/", members.open_space, name="member-open-space"),
    path(PERSON, members.member, name="member"),
    path(f"{PERSON}role/", members.change, name="member-role"),
    path(f"{PERSON}space/", members.change_in_space, name="member-space"),
    path(f"{PERSON}remove/", members.remove, name="member-remove"),
    path("a/<slug:account>/<slug:space>/data/", data.data, name="data"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/", data.transfer, name="data-transfer"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/cancel/", data.cancel, name="data-cancel"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/import/", data.confirm, name="data-import"),
    path("a/<slug:account>/<slug:space>/data/<str:transfer>/download/", data.take, name="data-download"),
    path("a/<slug:account>/<slug:space>/erase/", erasing.erase, name="erase"),
    path("a/<slug:account>/members/<str:person>/erase/", erasing.erase_person, name="erase-person"),
    path("a/<slug:account>/<slug:space>/forget/", forgetting.forgetting, name="forget"),
]
