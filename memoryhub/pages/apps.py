from django.contrib.admin.apps import AdminConfig


class HubAdminConfig(AdminConfig):
    default_site = "memoryhub.pages.administration.HubAdminSite"
