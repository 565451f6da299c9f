from django.urls import include, path

from spaces.views import dreams, held, home, journal, keys, memories, plans, records, settings, values

team_pages = [
    path("", home.account_home, name="account"),
    path("connect/", keys.connect, name="connect"),
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", keys.new_key, name="key-new"),
    path("keys/<str:key>/first-call/", keys.first_call, name="key-first-call"),
    path("keys/<str:key>/revoke/", keys.revoke, name="key-revoke"),
]

space_pages = [
    path("memories/", memories.memories, name="memories"),
    path("memories/new/", memories.new, name="memory-new"),
    path("memories/held/", held.held, name="memories-held"),
    path("memories/<str:memory>/", memories.memory, name="memory"),
    path("memories/<str:memory>/hold/", held.hold, name="memory-hold"),
    path("memories/<str:memory>/release/", held.release, name="memory-release"),
    path("memories/<str:memory>/pin/", memories.pin, name="memory-pin"),
    path("settings/", settings.settings, name="settings"),
    path("settings/try/", settings.try_text, name="settings-try"),
    path("dreams/", dreams.dreams, name="dreams"),
    path("dreams/<str:run>/", dreams.dream, name="dream"),
    path("dreams/<str:run>/review/", dreams.review, name="dream-review"),
    path("dreams/<str:run>/undo/", dreams.undo_run, name="dream-undo"),
    path("journal/", journal.journal, name="journal"),
    path("journal/new/", journal.new, name="journal-new"),
    path("journal/<str:kind>/<str:day>/", journal.entry, name="journal-entry"),
    path("journal/<str:kind>/<str:day>/delete/", journal.delete, name="journal-delete"),
    path("records/", records.collections, name="records"),
    path("records/new/", records.new, name="record-new"),
    path("records/in/<str:collection>/", records.collection, name="collection"),
    path("records/in/<str:collection>/<str:record>/", records.record, name="record"),
    path("records/in/<str:collection>/<str:record>/delete/", records.delete, name="record-delete"),
    path("plans/", plans.plans, name="plans"),
    path("plans/new/", plans.new, name="plan-new"),
    path("plans/<str:plan>/", plans.plan, name="plan"),
    path("plans/<str:plan>/restore/", plans.restore, name="plan-restore"),
    path("plans/<str:plan>/delete/", plans.delete, name="plan-delete"),
    path("values/", values.namespaces, name="values"),
    path("values/new/", values.new, name="value-new"),
    path("values/in/<str:namespace>/", values.namespace, name="values-namespace"),
    path("values/in/<str:namespace>/value/", values.value, name="value"),
    path("values/in/<str:namespace>/value/delete/", values.delete, name="value-delete"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("a/<slug:account>/", include(team_pages)),
    path("a/<slug:account>/<slug:space>/", include(space_pages)),
]
