from django.apps import AppConfig


class SpacesConfig(AppConfig):
    name = "spaces"
    verbose_name = "What a team remembers"
