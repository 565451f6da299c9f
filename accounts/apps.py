from django.apps import AppConfig
from django.db import connection
from django.db.models.signals import pre_migrate

from memoryhub.common.tenancy import APP_ROLE


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "People and teams"

    def ready(self) -> None:
        pre_migrate.connect(let_the_app_in, sender=self)


def let_the_app_in(**kwargs: object) -> None:
    """What the owner creates from here on is open to the application's login; policies decide on the rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA public "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP_ROLE}"
        )
        cursor.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {APP_ROLE}")
