from django.urls import path

from accounts.views import preferences, welcome

urlpatterns = [
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path("appearance/", preferences.theme, name="theme"),
    path("shortcuts/", preferences.shortcuts, name="shortcuts"),
]
