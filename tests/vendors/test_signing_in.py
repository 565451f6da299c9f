"""How one signs in at each vendor here is proven by a second witness: the vendor's own SDK is given the same tokens.

The witnesses know nothing of browsers; a code is got as a browser gets it.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from actions.connectors import signing_in
from actions.connectors.answers import NotSent, Refused, Trouble, Unclear
from actions.connectors.identity import identify
from actions.connectors.issuers import ISSUERS
from tests.vendors.authorities import CLIENT, SECRET, Authority
from tests.vendors.faults import FAULTS, HUGE, Fault
from tests.vendors.stage import agreed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
VENDORS = ("slack", "google", "github", "notion")
EVERY = pytest.mark.parametrize("vendor", VENDORS)

Authorities = dict[str, Authority]


def brought(vendor: str) -> tuple[str, str]:
    """A code, and what it is only good with."""
    verifier = signing_in.new_verifier()
    back = agreed(signing_in.authorization_url(vendor, "a-state", verifier))
    assert back["state"] == "a-state"
    return back["code"], verifier


def exchanged(vendor: str) -> signing_in.Tokens:
    return signing_in.exchange(vendor, *brought(vendor))


@EVERY
def test_a_code_becomes_a_token_that_the_vendor_takes(authorities: Authorities, vendor: str) -> None:
    tokens = exchanged(vendor)
    assert identify(vendor, tokens.access).ref
    assert set(ISSUERS[vendor].needs) <= set(tokens.scopes)
    assert tokens.lasts == authorities[vendor].lasts or tokens.lasts == int(authorities[vendor].lasts or 0)
    assert tokens.refresh


@EVERY
def test_no_token_shows_in_what_is_printed_of_it(authorities: Authorities, vendor: str) -> None:
    tokens = exchanged(vendor)
    assert tokens.access not in repr(tokens)
    assert tokens.refresh not in repr(tokens)


@EVERY
def test_the_address_that_a_vendor_sends_back_to_is_the_one_of_the_page(
    authorities: Authorities, settings, vendor: str
) -> None:
    settings.PUBLIC_URL = "https://hub.example"
    url = signing_in.authorization_url(vendor, "x", signing_in.new_verifier())
    [callback] = parse_qs(urlsplit(url).query)["redirect_uri"]
    assert callback == f"https://hub.example{reverse('connection-callback', args=[vendor])}"


ASKED: dict[str, dict[str, str]] = {
    "slack": {
        "scope": "chat:write,channels:read,channels:history,groups:read,groups:history,"
        "users:read,users:read.email,im:write"
    },
    "google": {"access_type": "offline", "prompt": "consent", "code_challenge_method": "S256"},
    "github": {"code_challenge_method": "S256"},
    "notion": {"owner": "user"},
}


@EVERY
def test_each_is_asked_for_what_is_particular_to_it(authorities: Authorities, vendor: str) -> None:
    url = signing_in.authorization_url(vendor, "x", signing_in.new_verifier())
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert ASKED[vendor].items() <= asked.items()
    assert asked["response_type"] == "code"
    assert ("code_challenge" in asked) is authorities[vendor].pkce


def test_a_github_app_is_asked_for_no_scopes_and_an_oauth_app_for_what_is_set(
    authorities: Authorities, settings
) -> None:
    assert "scope=" not in signing_in.authorization_url("github", "x", "y" * 64)
    settings.GITHUB_SCOPES = ["public_repo"]
    assert "scope=public_repo" in signing_in.authorization_url("github", "x", "y" * 64)
    assert exchanged("github").scopes == ("public_repo",)


@pytest.mark.parametrize("vendor", ["google", "github"])
def test_a_code_is_good_only_with_what_it_was_asked_for_with(authorities: Authorities, vendor: str) -> None:
    code, _ = brought(vendor)
    with pytest.raises(Refused):
        signing_in.exchange(vendor, code, signing_in.new_verifier())


@EVERY
def test_a_code_is_good_once(authorities: Authorities, vendor: str) -> None:
    code, verifier = brought(vendor)
    signing_in.exchange(vendor, code, verifier)
    with pytest.raises(Refused):
        signing_in.exchange(vendor, code, verifier)


@EVERY
def test_tokens_are_renewed_in_each_vendors_way(authorities: Authorities, vendor: str) -> None:
    first = exchanged(vendor)
    second = signing_in.renew(vendor, first.refresh)
    assert second.access != first.access
    assert (second.refresh == first.refresh) is not authorities[vendor].rotates
    assert identify(vendor, second.access).ref


@pytest.mark.parametrize("vendor", ["slack", "github", "notion"])
def test_a_refresh_token_that_was_used_is_over_for_good(authorities: Authorities, vendor: str) -> None:
    first = exchanged(vendor)
    signing_in.renew(vendor, first.refresh)
    with pytest.raises(Refused) as refusal:
        signing_in.renew(vendor, first.refresh)
    assert refusal.value.reason in signing_in.OVER


@EVERY
def test_what_is_ended_is_taken_no_more(authorities: Authorities, vendor: str) -> None:
    tokens = exchanged(vendor)
    signing_in.end(vendor, tokens)
    assert authorities[vendor].ended
    with pytest.raises(Trouble):
        identify(vendor, tokens.access)
    with pytest.raises(Refused):
        signing_in.renew(vendor, tokens.refresh)


@EVERY
def test_a_wrong_secret_is_known_as_the_hubs_own_fault(
    authorities: Authorities, settings, vendor: str
) -> None:
    code, verifier = brought(vendor)
    settings.VENDOR_CLIENTS = {vendor: (CLIENT, "another secret")}
    with pytest.raises(Refused) as refusal:
        signing_in.exchange(vendor, code, verifier)
    assert refusal.value.reason in signing_in.MISCONFIGURED


@EVERY
@pytest.mark.parametrize("fault", [*FAULTS, HUGE], ids=lambda fault: fault.name)
def test_no_fault_on_the_way_is_taken_for_a_token(
    authorities: Authorities, vendor: str, fault: Fault
) -> None:
    code, verifier = brought(vendor)
    authorities[vendor].faults.append(fault)
    with pytest.raises(Trouble) as trouble:
        signing_in.exchange(vendor, code, verifier)
    kind = {429: NotSent, 401: Refused}.get(fault.answer, Unclear)  # type: ignore[arg-type]
    assert isinstance(trouble.value, kind)


MALFORMED = [
    {}, [], ["access_token"], {"access_token": ""}, {"access_token": None}, {"access_token": 7},
    {"access_token": {"a": 1}}, {"access_token": "x" * 5000}, {"access_token": "a\nb"}, {"access_token": "schlüssel"},
    {"access_token": "a", "refresh_token": ["b"]}, {"access_token": "a", "expires_in": {"in": 1}},
    {"access_token": "a", "expires_in": "soon"}, {"access_token": "a", "refresh_token": "b\x00"},
    {"token": "a"}, b"", b"null", b"7", b'"access_token"', b"access_token=a&token_type=bearer", b"\xff\xfe", b"{",
]  # fmt: skip


@EVERY
@pytest.mark.parametrize("answer", MALFORMED, ids=repr)
def test_what_has_no_form_is_no_token(authorities: Authorities, vendor: str, answer: Any) -> None:
    code, verifier = brought(vendor)
    authorities[vendor].says.append((200, answer))
    with pytest.raises(Unclear):
        signing_in.exchange(vendor, code, verifier)


@pytest.mark.parametrize("given", [-1, 0, 10**20, None, "3600"])
def test_an_end_that_makes_no_sense_is_none(authorities: Authorities, given: Any) -> None:
    code, verifier = brought("notion")
    authorities["notion"].says.append((200, {"access_token": "a", "expires_in": given}))
    lasts = signing_in.exchange("notion", code, verifier).lasts
    assert lasts == (3600 if given == "3600" else None)


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (200, {"ok": False, "error": "ratelimited"}, NotSent),
        (503, {"error": "temporarily_unavailable"}, Unclear),
        (400, {"error": "temporarily_unavailable"}, NotSent),
        (200, {"ok": False, "error": "internal_error"}, Unclear),
        (200, {"ok": False}, Refused),
        (200, {"ok": False, "access_token": "a"}, Refused),
        (400, {"access_token": "a"}, Refused),
        (401, {"error": "Not a word: <b>"}, Refused),
    ],
)
def test_a_refusal_is_a_word_of_ours_or_none(
    authorities: Authorities, status: int, answer: dict[str, Any], kind: type[Trouble]
) -> None:
    code, verifier = brought("slack")
    authorities["slack"].says.append((status, answer))
    with pytest.raises(kind) as trouble:
        signing_in.exchange("slack", code, verifier)
    assert "<" not in trouble.value.reason


# The witnesses: each vendor's library gets tokens for a code and renews them; what it got, the vendor takes.


def by_slack(url: str, code: str, verifier: str, callback: str) -> tuple[str, str]:
    from slack_sdk import WebClient

    client = WebClient(base_url=f"{url}/api/")
    shown = {"client_id": CLIENT, "client_secret": SECRET}
    first = client.oauth_v2_access(**shown, code=code, redirect_uri=callback)
    second = client.oauth_v2_access(**shown, grant_type="refresh_token", refresh_token=first["refresh_token"])
    return first["access_token"], second["access_token"]


def by_google(url: str, code: str, verifier: str, callback: str) -> tuple[str, str]:
    """google-auth has no codes; it renews."""
    import google.auth.transport.requests
    from google.oauth2.credentials import Credentials

    first = signing_in.exchange("google", code, verifier)
    renewing = Credentials(
        None, refresh_token=first.refresh, token_uri=f"{url}/token", client_id=CLIENT, client_secret=SECRET
    )
    renewing.refresh(google.auth.transport.requests.Request())
    return first.access, str(renewing.token)


def by_github(url: str, code: str, verifier: str, callback: str) -> tuple[str, str]:
    from github import Github

    with Github(base_url=url, retry=None) as hub:
        app = hub.get_oauth_application(CLIENT, SECRET)
        first = app.get_access_token(code, code_verifier=verifier)
        assert (first.type, first.expires_in) == ("bearer", 28_800)
        assert first.refresh_token
        return first.token, app.refresh_access_token(first.refresh_token).token


def by_notion(url: str, code: str, verifier: str, callback: str) -> tuple[str, str]:
    from notion_client import Client

    shown = {"client_id": CLIENT, "client_secret": SECRET}
    with Client(base_url=url) as client:
        first = client.oauth.token(**shown, grant_type="authorization_code", code=code, redirect_uri=callback)
        second = client.oauth.token(**shown, grant_type="refresh_token", refresh_token=first["refresh_token"])
        return first["access_token"], second["access_token"]


WITNESSES: dict[str, Callable[[str, str, str, str], tuple[str, str]]] = {
    "slack": by_slack, "google": by_google, "github": by_github, "notion": by_notion,
}  # fmt: skip


@EVERY
def test_the_sdk_signs_in_and_renews_as_we_do(authorities: Authorities, settings, vendor: str) -> None:
    service, _ = ISSUERS[vendor].token
    url, callback = settings.VENDOR_URLS[service], ISSUERS[vendor].callback
    first, second = WITNESSES[vendor](url, *brought(vendor), callback)
    theirs, who = authorities[vendor].tried[-2:], identify(vendor, second)
    renewed = signing_in.renew(vendor, exchanged(vendor).refresh)
    assert first != second
    assert identify(vendor, renewed.access) == who
    assert list(map(kept, authorities[vendor].tried[-2:])) == list(map(kept, theirs))


def kept(sent: dict[str, str]) -> set[str]:
    """Which fields were sent, but for those in which the witnesses differ: GitHub's and Slack's leave the grant's type
    of a code out, GitHub's also where to send back to."""
    return set(sent) - {"grant_type", "redirect_uri", "scope"}
