from django.apps import AppConfig
from django.db import connection
from django.db.models.signals import pre_migrate
from django.http import HttpRequest

from memoryhub.common.tenancy import APP_ROLE


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "People and teams"

    def ready(self) -> None:
        from allauth.account.signals import password_changed, password_reset, password_set
        from allauth.mfa import signals

        pre_migrate.connect(let_the_app_in, sender=self)
        for changed in (
            signals.authenticator_added,
            signals.authenticator_removed,
            signals.authenticator_reset,
        ):
            changed.connect(end_the_others)
        for renewed in (password_changed, password_reset, password_set):
            renewed.connect(end_all)
        password_reset.connect(take_for_proven)


def end_the_others(request: HttpRequest, user: object, **kwargs: object) -> None:
    """Another way to sign in: what was signed in before has to do it anew, but for who has just changed it."""
    from accounts.domain.sessions import end_other_sessions
    from accounts.models import User

    if isinstance(user, User):
        end_other_sessions(request, user)


def end_all(request: HttpRequest, user: object, **kwargs: object) -> None:
    """Another password: who was signed in with the old one may be why."""
    from accounts.domain.sessions import end_every_session
    from accounts.models import User

    if isinstance(user, User):
        end_every_session(user)


def take_for_proven(request: HttpRequest, user: object, **kwargs: object) -> None:
    """The letter that a password is reset by went to the address that they sign in with."""
    from accounts.domain.addresses import mail_is_sent, prove_address
    from accounts.models import User

    if isinstance(user, User) and mail_is_sent():
        prove_address(user)


def let_the_app_in(**kwargs: object) -> None:
    """What the owner creates from here on is open to the application's login; policies decide on the rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA public "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP_ROLE}"
        )
        cursor.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {APP_ROLE}")
