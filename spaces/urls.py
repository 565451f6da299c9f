from django.urls import include, path

from spaces.views import home, keys, memories

account_pages = [
    path("", home.account_home, name="account"),
    path("connect/", keys.connect, name="connect"),
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", keys.new_key, name="key-new"),
    path("keys/<str:key>/first-call/", keys.first_call, name="key-first-call"),
    path("keys/<str:key>/revoke/", keys.revoke, name="key-revoke"),
]

S = "a/<slug:account>/<slug:space>/"
urlpatterns = [
    path(S + "memories/", memories.stub, name="memories"),
    path(S + "journal/", memories.stub, name="journal"),
    path(S + "records/", memories.stub, name="records"),
    path(S + "values/", memories.stub, name="values"),
    path("", home.home, name="home"),
    path("a/<slug:account>/", include(account_pages)),
]
