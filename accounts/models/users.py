from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models, transaction
from django.utils.crypto import salted_hmac

from memoryhub.common.ids import new_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):  # type: ignore[django-manager-missing]
    """A person. Signs in by e-mail; belongs to accounts through memberships."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    shortcuts = models.BooleanField(default=True, help_text="Single-letter keyboard shortcuts")
    session_epoch = models.PositiveIntegerField(
        default=0, editable=False, help_text="Sessions of an earlier one have ended"
    )
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    def __str__(self) -> str:
        return f"person {self.id}"

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """The address someone joins with is what they say; whether it is theirs, only a letter can tell."""
        joins = self._state.adding
        super().save(*args, **kwargs)
        if joins:
            self.emailaddress_set.create(email=self.email, primary=True)  # type: ignore[attr-defined]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Changes with the password, and each time all sessions but one are ended."""
        value: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        return value if not self.session_epoch else salted_hmac(value, str(self.session_epoch)).hexdigest()

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email.split("@")[0]
