from django.contrib import admin
from django.urls import include, path, re_path

from memoryhub.health import healthz, readyz
from memoryhub.operations.challenges import METADATA
from memoryhub.rest.discovery import protected_resource

handler400 = "memoryhub.web.refusals.bad_request"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    re_path(
        rf"^{METADATA[1:]}(?:/(?P<path>v1|mcp(?:/[a-z]+)?))?/?$",
        protected_resource,
        name="protected-resource",
    ),
    path("v1/", include("memoryhub.rest.urls")),
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("", include("actions.urls")),
    path("", include("memoryhub.pages.urls")),
    path("", include("spaces.urls")),
]
