"""Settings of a real server on the test database: those of the product, but for what the tests make quick."""

from memoryhub.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
VENDOR_CLIENTS = VENDOR_CLIENTS | {"google": ("hub.123", "the-secret-of-the-hub")}  # noqa: F405
RATE_LIMIT_REQUESTS = RATE_LIMIT_WRITES = 0
OAUTH2_PROVIDER = OAUTH2_PROVIDER | {  # noqa: F405
    "CIMD_METADATA_FETCHER": "tests.clients.documents.Fetcher"
}
