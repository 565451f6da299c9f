"""Where one signs in at each vendor, and what is particular there. docs/vendors.md names the vendors' documents."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings

from memoryhub.common.errors import NotFound

GOOGLE = "https://www.googleapis.com/auth/"


@dataclass(frozen=True)
class Issuer:
    """A vendor's authorization server.

    `authorize` and `token` are a service and a path at its address. `scopes` are what its connectors need, and no
    more. With `basic` the hub shows itself by HTTP Basic, otherwise in the form. `name` is what it calls itself in
    `iss` (RFC 9207), where it does.
    """

    vendor: str
    authorize: tuple[str, str]
    token: tuple[str, str]
    scopes: tuple[str, ...] = ()
    between: str = " "
    asks: Mapping[str, str] = field(default_factory=dict)
    pkce: bool = True
    basic: bool = False
    as_json: bool = False
    name: str = ""

    @property
    def client_id(self) -> str:
        return settings.VENDOR_CLIENTS[self.vendor][0]

    @property
    def client_secret(self) -> str:
        return settings.VENDOR_CLIENTS[self.vendor][1]

    @property
    def is_configured(self) -> bool:
        return bool(self.client_id and self.client_secret)

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(settings.GITHUB_SCOPES) if self.vendor == "github" else self.scopes

    @property
    def callback(self) -> str:
        """The one address that is registered at the vendor, to the letter."""
        return f"{settings.PUBLIC_URL}/connections/callback/{self.vendor}/"


SLACK = Issuer(
    "slack",
    authorize=("slack", "/oauth/v2/authorize"),
    token=("slack", "/api/oauth.v2.access"),
    scopes=(
        *("chat:write", "channels:read", "channels:history", "groups:read", "groups:history"),
        *("users:read", "users:read.email", "im:write"),  # for messages to people of the team alone
    ),
    between=",",
    pkce=False,  # switching it on makes an app a public client for good, whose refresh tokens end after 30 days
    basic=True,
)
GOOGLE_ACCOUNTS = Issuer(
    "google",
    authorize=("google_accounts", "/o/oauth2/v2/auth"),
    token=("google_oauth", "/token"),
    scopes=(
        "openid",
        f"{GOOGLE}userinfo.email",
        f"{GOOGLE}gmail.send",
        f"{GOOGLE}gmail.metadata",
        f"{GOOGLE}calendar.events",
    ),
    # Without `offline` there is no refresh token, and without `consent` there is one the first time only.
    asks={"access_type": "offline", "prompt": "consent"},
    name="https://accounts.google.com",
)
GITHUB = Issuer(
    "github",
    authorize=("github_web", "/login/oauth/authorize"),
    token=("github_web", "/login/oauth/access_token"),
    name="https://github.com/login/oauth",
)
NOTION = Issuer(
    "notion",
    authorize=("notion", "/v1/oauth/authorize"),
    token=("notion", "/v1/oauth/token"),
    asks={"owner": "user"},
    pkce=False,
    basic=True,
    as_json=True,
)
ISSUERS = {issuer.vendor: issuer for issuer in (SLACK, GOOGLE_ACCOUNTS, GITHUB, NOTION)}


def issuer_of(vendor: str) -> Issuer:
    """Of a vendor at which this hub is known; another one is as if it were none."""
    issuer = ISSUERS.get(vendor)
    if issuer is None or not issuer.is_configured:
        raise NotFound("vendor")
    return issuer
