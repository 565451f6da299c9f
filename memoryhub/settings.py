"""Every setting, read from the environment. `memoryhub up` fills it in for the embedded instance."""

import operator
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF

from accounts.scopes import PRESETS, Scope
from memoryhub.common.env import envbool, envint, envlist, envnetworks, envredis, envsecret, envstr

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

DEBUG = envbool("DEBUG", False)
KNOWN_KEY = "known to everybody: enough to build and migrate, refused for serving"
SECRET_KEY = envsecret("SECRET_KEY", KNOWN_KEY)
KEY_PEPPER = envsecret("KEY_PEPPER", SECRET_KEY)
KEYRING = envsecret(
    "KEYRING"
)  # kid:key,kid:key…: what secrets are sealed under at rest (memoryhub.common.keyring)
AUDIT_KEY = envsecret("AUDIT_KEY")  # Ed25519: what checkpoints of the event chains are signed with
AUDIT_DIR = envstr("AUDIT_DIR")  # where they are put away; none is the log
PUBLIC_URL = envstr("PUBLIC_URL", "http://localhost:8765").rstrip("/")
HTTPS = PUBLIC_URL.startswith("https://")
PUBLIC_HOST = urlsplit(PUBLIC_URL).hostname or "localhost"
ALLOWED_HOSTS = envlist("ALLOWED_HOSTS", [PUBLIC_HOST, "localhost", "127.0.0.1", "[::1]"])
ALLOWED_ORIGINS = envlist("ALLOWED_ORIGINS", [PUBLIC_URL])
CSRF_TRUSTED_ORIGINS = ALLOWED_ORIGINS
# How many proxies of ours stand in front: each adds the address it was asked from to X-Forwarded-For.
TRUSTED_PROXIES = envint("TRUSTED_PROXIES", 0)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = envint("HSTS_SECONDS", 31_536_000)

INSTALLED_APPS = [
    "accounts",
    "spaces",
    "actions",
    "memoryhub",
    "memoryhub.pages.apps.HubAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "oauth2_provider",
    "rest_framework",
    "channels",
    "django_cotton",
    "django_htmx",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "memoryhub.web.compression.PageGZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memoryhub.web.middleware.viewer_middleware",
    "accounts.middleware.TenantPageMiddleware",
]

ROOT_URLCONF = "memoryhub.urls"
ASGI_APPLICATION = "memoryhub.asgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [p for p in (BASE_DIR / "templates", BASE_DIR / "memoryhub/templates") if p.is_dir()],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memoryhub.web.middleware.appearance",
                "accounts.views.letters.letters",
                "memoryhub.pages.shell.shell",
            ],
            "libraries": {"hub": "memoryhub.web.tags"},
        },
    }
]

# The database: the app's login serves, the owner's login migrates, and nothing switches between them at run time.
DB_ROLE = envstr("MEMORYHUB_DB_ROLE", "app")
DATABASE_URL = envstr("DATABASE_URL", "postgres://hub_app@localhost/memoryhub")
DATABASE_OWNER_URL = envstr("DATABASE_OWNER_URL", "postgres://hub_owner@localhost/memoryhub")
DB_APP = dj_database_url.parse(DATABASE_URL)
DB_OWNER = dj_database_url.parse(DATABASE_OWNER_URL)
DB_LOGIN = DB_OWNER if DB_ROLE == "owner" else DB_APP
# The server keeps plans of what is asked all the time; not behind a pooler that gives each transaction another session.
DB_PREPARED = {"prepare_threshold": 3 if envbool("DATABASE_PREPARED_STATEMENTS") else None}
DB_POOL = {"min_size": 0, "max_size": envint("DB_POOL_SIZE", 12), "timeout": 20}
DATABASES = {
    "default": {
        **DB_LOGIN,
        "ENGINE": "memoryhub.common.postgres",
        "CONN_MAX_AGE": 0,
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": DB_LOGIN.get("OPTIONS", {})
        | DB_PREPARED
        | ({} if DB_ROLE == "owner" else {"pool": DB_POOL}),
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHE_URL = envredis("CACHE_URL")
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
    if CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "hub_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

CHANNEL_LAYER_URL = envredis("CHANNEL_LAYER_URL", package="channels_redis")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [CHANNEL_LAYER_URL]},
    }
    if CHANNEL_LAYER_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# Messages only wake workers (accounts.domain.jobs): losing one costs a second, waiting to send one would cost more.
CELERY_BROKER_URL = envredis("CELERY_BROKER_URL", "memory://")
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 0}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = envint("WORKER_THREADS", 4)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # in memory: every entry is an interval
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "accounts.tasks.sweep", "schedule": 1.0, "options": {"expires": 5}},
    "embed": {"task": "spaces.tasks.embed_pending", "schedule": 1.0, "options": {"expires": 5}},
    "tidy": {"task": "actions.tasks.tidy_notices", "schedule": 3600.0, "options": {"expires": 600}},
    "dreams": {"task": "spaces.tasks.look_for_dreams", "schedule": 900.0, "options": {"expires": 600}},
    "chains": {"task": "accounts.tasks.check_chains", "schedule": 600.0, "options": {"expires": 60}},
    "clients": {"task": "accounts.tasks.tend_clients", "schedule": 900.0, "options": {"expires": 60}},
    "graphs": {"task": "spaces.tasks.tend_graphs", "schedule": 600.0, "options": {"expires": 60}},
}

# Meaning: the server that embeds, with the OpenAI interface (http+unix://%2Fpath/v1 for one behind a socket).
# Without one, or with "off", search is by words.
EMBEDDING_URL = "" if envstr("EMBEDDING_URL") == "off" else envstr("EMBEDDING_URL").rstrip("/")
EMBEDDING_MODEL = envstr("EMBEDDING_MODEL", "multilingual-e5-small")
EMBEDDING_API_KEY = envsecret("EMBEDDING_API_KEY")
EMBEDDING_DIMENSIONS = envint("EMBEDDING_DIMENSIONS")  # asked for where a model can answer shorter vectors
EMBEDDING_QUERY_PREFIX = envstr(
    "EMBEDDING_QUERY_PREFIX"
)  # "none", or in place of what the model is known for
EMBEDDING_PASSAGE_PREFIX = envstr("EMBEDDING_PASSAGE_PREFIX")
EMBEDDING_PREVIOUS_API_KEY = envsecret("EMBEDDING_PREVIOUS_API_KEY")  # of the server before, during a change

# A language model, for what asks for one: a server with the OpenAI interface for chat, by its base (…/v1).
LLM_URL = envstr("LLM_URL").rstrip("/")
LLM_MODEL = envstr("LLM_MODEL")
LLM_API_KEY = envsecret("LLM_API_KEY")
LLM_SECONDS = envint("LLM_SECONDS", 60)  # for a whole answer

# Between an approval and the sending, in which it can be taken back.
UNDO_SECONDS = envint("UNDO_SECONDS", 10)

# Where the vendors are that actions are carried out at: one address for each service.
VENDOR_URLS = {
    "slack": envstr("SLACK_URL", "https://slack.com").rstrip("/"),
    "gmail": envstr("GMAIL_URL", "https://gmail.googleapis.com").rstrip("/"),
    "calendar": envstr("CALENDAR_URL", "https://www.googleapis.com").rstrip("/"),
    "github": envstr("GITHUB_URL", "https://api.github.com").rstrip("/"),
    "notion": envstr("NOTION_URL", "https://api.notion.com").rstrip("/"),
    # where people sign in, and tokens come from, if that is elsewhere
    "google_accounts": envstr("GOOGLE_ACCOUNTS_URL", "https://accounts.google.com").rstrip("/"),
    "google_oauth": envstr("GOOGLE_OAUTH_URL", "https://oauth2.googleapis.com").rstrip("/"),
    "github_web": envstr("GITHUB_WEB_URL", "https://github.com").rstrip("/"),
}
VENDOR_SECONDS = envint("VENDOR_SECONDS", 20)  # for an answer
# Signing in at a vendor: what each calls this hub, and the secret it gave for it. Without one, tokens are pasted.
VENDOR_CLIENTS = {
    vendor: (envstr(f"{vendor.upper()}_CLIENT_ID"), envsecret(f"{vendor.upper()}_CLIENT_SECRET"))
    for vendor in ("slack", "google", "github", "notion")
}
GITHUB_SCOPES = envlist("GITHUB_SCOPES")  # of an OAuth app; a GitHub App has permissions of its own
ACTION_LEASE_SECONDS = envint(
    "ACTION_LEASE_SECONDS", 90
)  # then a worker counts as gone: longer than any call

# Networks that are not public, and that people may name all the same: for webhooks to a machine beside this one.
OUTGOING_NETWORKS = envnetworks("OUTGOING_NETWORKS")
WEBHOOK_SECONDS = envint("WEBHOOK_SECONDS", 10)  # for an answer of a webhook's endpoint

# The last word on what a search finds, where a server has it: TEI's interface, or Cohere's if a model is named.
RERANK_URL = envstr("RERANK_URL")
RERANK_MODEL = envstr("RERANK_MODEL")
RERANK_API_KEY = envsecret("RERANK_API_KEY")

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_CHANGE_EMAIL = True  # the new address takes the old one's place once it is verified
ACCOUNT_EMAIL_NOTIFICATIONS = (
    True  # of a changed address to the former one; of the rest to the one that counts
)
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = {"password", "mfa"}
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
MFA_ADAPTER = "accounts.adapter.MFAAdapter"
ACCOUNT_FORMS = {
    "add_email": "accounts.forms.AddressForm",
    "reset_password": "accounts.forms.ForgottenForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Memory Hub"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers make passkeys for http://localhost alone
USERSESSIONS_TRACK_ACTIVITY = True
ACCOUNT_USER_DISPLAY = operator.methodcaller("get_full_name")
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
# A mail server, for invitations, forgotten passwords and what waits for a decision. Without one no letter is written:
# pages show links, or say what to do instead.
EMAIL_HOST = envstr("EMAIL_HOST")
EMAIL_PORT = envint("EMAIL_PORT", 587)
EMAIL_HOST_USER = envstr("EMAIL_USER")
EMAIL_HOST_PASSWORD = envsecret("EMAIL_PASSWORD")
EMAIL_USE_SSL = EMAIL_PORT == 465
EMAIL_USE_TLS = envbool("EMAIL_TLS", EMAIL_PORT == 587)
EMAIL_TIMEOUT = 10
EMAIL_BACKEND = envstr(
    "EMAIL_BACKEND", f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'dummy'}.EmailBackend"
)
# An address that nobody has proven could be somebody else's: no second step shuts them out of it. Without a mail
# server nothing can be proven, and nobody asks for a letter.
MFA_ALLOW_UNVERIFIED_EMAIL = EMAIL_BACKEND.split(".")[-2] in ("console", "dummy")
DEFAULT_FROM_EMAIL = envstr("DEFAULT_FROM_EMAIL", f"Memory Hub <memoryhub@{PUBLIC_HOST}>")
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Memory Hub: "

SESSION_COOKIE_AGE = 12 * 3600  # without use
SESSION_LONGEST = 14 * 24 * 3600  # since signing in
SESSION_SAVE_EVERY_REQUEST = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "__Host-memoryhub" if HTTPS else "memoryhub"
CSRF_COOKIE_NAME = "__Host-memoryhub-csrf" if HTTPS else "memoryhub-csrf"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

OAUTH2_PROVIDER_APPLICATION_MODEL = "accounts.Application"
OAUTH2_PROVIDER = {
    "OIDC_ISS_ENDPOINT": PUBLIC_URL,  # the issuer, whatever Host a request names; nothing of OpenID is on
    "SCOPES": {str(scope): str(scope) for scope in Scope},
    "DEFAULT_SCOPES": sorted(PRESETS["agent"]),
    "OAUTH2_VALIDATOR_CLASS": "accounts.oauth.validator.Validator",
    "OAUTH2_BACKEND_CLASS": "accounts.oauth.core.Core",
    "ACCESS_TOKEN_GENERATOR": "accounts.oauth.secrets.access_token",
    "REFRESH_TOKEN_GENERATOR": "accounts.oauth.secrets.refresh_token",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 3600,  # without use
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "PKCE_REQUIRED": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"],  # http for this machine alone: Application.clean
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "CIMD_ENABLED": True,
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["accounts.oauth.fetching.WithinLimits"],
    "CIMD_METADATA_FETCHER": "accounts.oauth.fetching.Fetcher",
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
}
# Of clients in an hour, from one address and from all of them; 0 is no limit.
OAUTH_REGISTRATIONS = envint("OAUTH_REGISTRATIONS", 60)
OAUTH_REGISTRATIONS_ALL = envint("OAUTH_REGISTRATIONS_ALL", 600)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memoryhub.rest.auth.CredentialAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "memoryhub.rest.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ja", "日本語")]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATIC_ROOT = envstr("STATIC_ROOT") or None
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

BODY_LIMIT = envint("BODY_LIMIT", 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_LIMIT
# A key's minute, counted in the shared cache; 0 is no limit.
RATE_LIMIT_REQUESTS = envint("RATE_LIMIT_REQUESTS", 120)
RATE_LIMIT_WRITES = envint("RATE_LIMIT_WRITES", 60)
SPACE_QUOTAS = {
    "memories": envint("SPACE_MEMORIES", 50_000),
    "records": envint("SPACE_RECORDS", 100_000),
    "values": envint("SPACE_VALUES", 10_000),
}
BACKUP_DAYS = envint("BACKUP_DAYS", 30)  # how long a backup is meant to be kept
IMPORT_BYTES = envint("IMPORT_BYTES", 512 * 1024 * 1024)  # of one uploaded file
ANSWER_CHARS = envint("ANSWER_CHARS", 60_000)

LOGGING_CONFIG = "memoryhub.common.logs.configure"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": envstr("LOG_LEVEL", "INFO")},
    "loggers": {
        "httpx2": {"level": "WARNING"},  # a line for each request otherwise
        "celery.beat": {"level": "WARNING"},  # and five a second that say it is time again,
        "celery.worker.strategy": {"level": "WARNING"},  # that this is heard,
        "celery.app.trace": {"level": "WARNING"},  # and done
        "django.security.DisallowedHost": {"level": "CRITICAL"},  # memoryhub.web.refusals says it in a line
        "django.request": {"level": "ERROR"},  # and one for each refusal, with the names in its address
    },
}
