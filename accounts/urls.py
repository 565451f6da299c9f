from django.urls import path, re_path

from accounts.views import acting, addresses, oauth, preferences, sessions, welcome

urlpatterns = [
    path("accounts/email/", addresses.AddressView.as_view(), name="account_email"),
    path("acting/", acting.acting, name="acting"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path("profile/", preferences.profile, name="profile"),
    path("appearance/", preferences.theme, name="theme"),
    path("sessions/<int:session>/end/", sessions.end, name="session-end"),
    path("shortcuts/", preferences.shortcuts, name="shortcuts"),
    path("oauth/register", oauth.register, name="oauth-register"),
    path("oauth/token", oauth.token, name="oauth-token"),
    path("oauth/revoke", oauth.revoke, name="oauth-revoke"),
    re_path(
        r"^\.well-known/oauth-authorization-server(?:/(?P<path>(?:mcp|v1)(?:/[a-z]+)?))?/?$",
        oauth.server_metadata,
        name="authorization-server",
    ),
]
