"""Settings of the tests: a PostgreSQL of their own, migrated as its owner and then used as the application."""

import os
from pathlib import Path

from memoryhub.running.postgres import EmbeddedPostgres

HOME = Path(os.environ.get("TEST_DATA_DIR") or Path(__file__).resolve().parent.parent / ".test-data")
postgres = EmbeddedPostgres(HOME / "postgres", durable=False)
if not postgres.alive():
    postgres.start()
os.environ["DATABASE_URL"] = postgres.url("hub_app")
os.environ["DATABASE_OWNER_URL"] = postgres.url("hub_owner")
os.environ["DATABASE_PREPARED_STATEMENTS"] = "true"
os.environ["SECRET_KEY"] = "for tests only"
os.environ["KEY_PEPPER"] = "another one for tests only"
for service in (
    "SLACK", "GMAIL", "CALENDAR", "GITHUB", "NOTION", "GOOGLE_ACCOUNTS", "GOOGLE_OAUTH", "GITHUB_WEB",
):  # fmt: skip
    os.environ[f"{service}_URL"] = "http://127.0.0.1:9"  # no test leaves this machine
os.environ["KEYRING"] = f"tests:{'A' * 43}"
os.environ["SPACE_MEMORIES"] = os.environ["SPACE_RECORDS"] = os.environ["SPACE_VALUES"] = "0"
os.environ["RATE_LIMIT_REQUESTS"] = os.environ["RATE_LIMIT_WRITES"] = "0"
os.environ.setdefault("PUBLIC_URL", "http://testserver")

from memoryhub.settings import *  # noqa: E402, F403
from memoryhub.settings import DATABASES, DB_OWNER, DB_PREPARED  # noqa: E402

DATABASES["default"].update(DB_OWNER, ENGINE="memoryhub.common.postgres", OPTIONS=DB_PREPARED)
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_TASK_ALWAYS_EAGER = False
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
