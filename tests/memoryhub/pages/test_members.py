import re
import time
from typing import Any
from urllib.parse import unquote, urlencode

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.domain.accounts import add_member
from accounts.domain.addresses import letter_mark
from accounts.domain.invitations import invite
from accounts.domain.seeds import seal_seed
from accounts.models import Invitation, Membership, User
from accounts.scopes import Role
from memoryhub.common.tenancy import tenant
from spaces.domain.members import set_space_role
from tests.conftest import Cast
from tests.pages import browser_of, freshly_signed_in, text_of

pytestmark = pytest.mark.django_db
HOME = "/a/acme/members/"


def person(cast: Cast, who: str) -> str:
    return f"{HOME}person/usr_{getattr(cast, who).user_id.hex}/"


@pytest.fixture
def owner(cast: Cast) -> Client:
    return freshly_signed_in(cast.owner, time.time())


def invited(cast: Cast, email: str = "") -> str:
    with tenant(cast.account.id):
        return invite(cast.owner, Role.VIEWER, email=email).token


def link_on(answer: Any) -> str:
    found = re.search(r"/welcome/[\w-]+/", text_of(answer))
    assert found
    return found[0]


def test_who_may_erase_a_person_gets_there_from_the_list(cast: Cast, owner: Client) -> None:
    page = text_of(owner.get(HOME))
    address = f"{HOME}usr_{cast.teammate.user_id.hex}/erase/"  # type: ignore[union-attr]
    assert f'href="{address}"' in page
    assert owner.get(address).status_code == 200
    assert f"usr_{cast.owner.user_id.hex}/erase/" not in page  # type: ignore[union-attr]
    assert "/erase/" not in text_of(browser_of(cast.teammate).get(HOME))


def test_who_is_removed_is_told_so_on_the_page_they_had_open(cast: Cast) -> None:
    client = browser_of(cast.teammate)
    Membership.objects.filter(user_id=cast.teammate.user_id).delete()
    for address in (HOME, "/a/acme/main/inbox/", "/a/nowhere/"):
        answer = client.get(address)
        assert (answer.status_code, "You are not in this team" in text_of(answer)) == (404, True)
    add_member(cast.outsider.account_id, User.objects.get(id=cast.teammate.user_id), Role.VIEWER)
    assert 'href="/a/globex/"' in text_of(client.get(HOME))


def test_an_invitation_is_shown_once_and_lets_its_person_in(cast: Cast, owner: Client) -> None:
    link = link_on(owner.post(f"{HOME}invite/", {"email": "New@acme.example", "role": "viewer"}))
    assert link not in text_of(owner.get(HOME))
    assert "new@acme.example" in text_of(owner.get(HOME))
    joining = Client()
    assert "new@acme.example" in text_of(joining.get(link))
    sent = {"email": "other@evil.example", "name": "New", "password": "a long enough phrase"}
    sign_in = joining.post(link, sent)["Location"]
    assert sign_in == f"/accounts/login/?{urlencode({'next': link})}"
    assert "Now sign in" in text_of(joining.get(sign_in))
    assert joining.post(sign_in, {"login": "new@acme.example", **sent})["Location"] == link
    assert joining.get(link)["Location"] == "/a/acme/"
    assert joining.get("/a/acme/main/memories/").status_code == 200
    assert Membership.objects.get(user__email="new@acme.example").role == "viewer"
    assert Client().get(link).status_code == 410


@pytest.mark.django_db(transaction=True)
def test_the_letter_goes_out_where_there_is_a_mail_server(cast: Cast, owner: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    made = owner.post(f"{HOME}invite/", {"email": "new@acme.example", "role": "member"})
    [letter] = mail.outbox
    assert (letter.to, letter.subject) == (["new@acme.example"], "You are invited to Acme on Memory Hub")
    assert link_on(made) in letter.body
    mark = f"?letter={letter_mark(Invitation.objects.get())}"
    assert (mark in letter.body, mark in text_of(made)) == (True, False)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "No mail server is set" in text_of(owner.get(HOME))
    owner.post(f"{HOME}invite/", {"email": "next@acme.example", "role": "member"})
    assert len(mail.outbox) == 1


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"email": "nobody", "role": "member"}, "valid email"),
        ({"email": "viewer@acme.example", "role": "member"}, "a member already"),
        ({"email": "", "role": "king"}, "not one of the available choices"),
    ],
)
def test_what_is_wrong_with_an_invitation_is_told_beside_its_field(
    owner: Client, sent: dict[str, str], told: str
) -> None:
    answer = owner.post(f"{HOME}invite/", sent)
    assert (answer.status_code, told in text_of(answer)) == (422, True)
    assert not Invitation.objects.exists()


def test_an_admin_is_offered_no_owner(cast: Cast) -> None:
    admin = freshly_signed_in(cast.admin, time.time())
    assert admin.post(f"{HOME}invite/", {"email": "", "role": "owner"}).status_code == 422
    assert not Invitation.objects.exists()


def test_a_withdrawn_invitation_opens_nothing(cast: Cast, owner: Client) -> None:
    link = link_on(owner.post(f"{HOME}invite/", {"email": "", "role": "viewer"}))
    owner.post(f"{HOME}invitation/{Invitation.objects.get().id}/withdraw/")
    assert Client().get(link).status_code == 410


def test_somebody_of_another_team_joins_as_who_they_are(cast: Cast) -> None:
    token = invited(cast, "owner@globex.example")
    stranger, theirs = browser_of(cast.viewer), browser_of(cast.outsider_person)
    assert "another address" in text_of(stranger.get(f"/welcome/{token}/"))
    assert stranger.post(f"/welcome/{token}/").status_code == 403
    assert "Sign in to join" in text_of(Client().get(f"/welcome/{token}/"))
    assert theirs.post(f"/welcome/{token}/")["Location"] == "/a/acme/"
    assert theirs.get("/a/acme/main/memories/").status_code == 200


@pytest.mark.parametrize("named", [True, False])
def test_whether_an_address_is_known_is_told_by_no_link(cast: Cast, named: bool) -> None:
    """Not by its page, not by the answer and not by the page after it; nor can it ask about a second address."""

    def told(address: str) -> list[tuple[int, str, str]]:
        link = f"/welcome/{invited(cast, address if named else '')}/"
        sent = {"email": address, "name": "Somebody", "password": "a long enough phrase"}
        answers = [
            Client().get(link),
            Client().post(link, {**sent, "password": "short"}),
            Client().post(link, sent),
            Client().get(link),
            Client().post(link, {**sent, "email": "third@globex.example"}),
        ]
        return [plain(answer, link, address) for answer in answers]

    assert told("owner@globex.example") == told("nobody@globex.example")
    assert not User.objects.filter(email="third@globex.example").exists()


def plain(answer: Any, *given: str) -> tuple[int, str, str]:
    """Without what was given, and without what is another each time."""
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', "", text_of(answer))
    where = unquote(answer.get("Location", ""))
    for known in given:
        text, where = text.replace(known, "…"), where.replace(known, "…")
    return answer.status_code, where, text


def test_somebody_whose_address_nothing_has_proven_is_told_how_to_join(cast: Cast) -> None:
    theirs = browser_of(cast.outsider_person)
    EmailAddress.objects.filter(user_id=cast.outsider_person.user_id).update(verified=False)
    link = f"/welcome/{invited(cast, 'owner@globex.example')}/"
    shown = text_of(theirs.get(link))
    assert "/accounts/email/" in shown
    assert "Join the team" not in shown
    assert theirs.post(link).status_code == 403
    invitation = Invitation.objects.get()
    by_letter = f"{link}?letter={letter_mark(invitation)}"
    assert "Join the team" in text_of(theirs.get(by_letter))
    assert theirs.post(by_letter)["Location"] == "/a/acme/"


def test_who_is_in_the_team_already_does_not_use_a_link_up(cast: Cast) -> None:
    token = invited(cast)
    assert browser_of(cast.owner).post(f"/welcome/{token}/").status_code == 409
    assert Invitation.objects.get().accepted_at is None


def test_why_somebody_may_or_may_not_is_told(cast: Cast, owner: Client) -> None:
    with tenant(cast.account.id):
        set_space_role(cast.owner, str(cast.approver.user_id), Role.VIEWER, space="main")

    def asked(who: str, right: str) -> str:
        return str(owner.get(f"{person(cast, who)}?space=main&right={right}").context["answer"])

    assert asked("teammate", "write") == (
        "Member may write in Main, as Member. "
        "The space is open to the whole team, and the role in the team holds."
    )
    assert asked("approver", "decide") == (
        "Approver may not decide in Main: Viewer doesn’t include it, that takes Owner or Approver. "
        "They are named in this space, which narrows Approver to Viewer."
    )
    assert asked("admin", "read").endswith("Every owner and admin sees every space.")
    owner.post(f"{HOME}space/main/", {"visibility": "members"})
    assert "they don’t see it" in asked("viewer", "read")
    assert asked("viewer", "fly") == ""


def test_everybody_sees_of_themselves_what_they_may_and_why(cast: Cast) -> None:
    teammate = browser_of(cast.teammate)
    assert teammate.get(person(cast, "teammate")).status_code == 200
    assert teammate.get(person(cast, "viewer")).status_code == 403
    assert "Remove from the team" not in text_of(teammate.get(person(cast, "teammate")))


def test_roles_are_changed_on_the_page_of_the_person(cast: Cast, owner: Client) -> None:
    owner.post(f"{person(cast, 'viewer')}role/", {"role": "approver"})
    owner.post(f"{person(cast, 'viewer')}space/", {"role": "viewer", "space": "main"})
    shown = owner.get(person(cast, "viewer"))
    assert [row["reach"].because for row in shown.context["rows"]] == ["narrowed"]
    assert owner.post(f"{person(cast, 'viewer')}role/", {"role": "king"}).status_code == 422


def test_a_person_is_removed_and_loses_the_page_they_were_on(cast: Cast, owner: Client) -> None:
    teammate = browser_of(cast.teammate)
    assert teammate.get(HOME).status_code == 200
    assert owner.post(f"{person(cast, 'teammate')}remove/")["Location"] == HOME
    assert teammate.get(HOME).status_code == 404
    assert owner.post(f"{person(cast, 'owner')}remove/").status_code == 403


def test_whoever_signed_in_long_ago_is_asked_first_and_nothing_is_done(cast: Cast) -> None:
    late = browser_of(cast.owner)
    answer = late.post(f"{person(cast, 'viewer')}remove/")
    assert (
        answer["Location"] == f"/accounts/reauthenticate/?next={person(cast, 'viewer').replace('/', '%2F')}"
    )
    assert Membership.objects.filter(user_id=cast.viewer.user_id).exists()


def test_who_signs_in_with_a_second_step_is_shown(cast: Cast, owner: Client) -> None:
    assert "two-step" not in text_of(owner.get(HOME))
    user: Any = cast.viewer.user_id
    Authenticator.objects.create(user_id=user, type="totp", data={"secret": seal_seed("SEED", user)})
    lines = {line["member"].role: line["twice"] for line in owner.get(HOME).context["members"]}
    assert lines == {"owner": False, "admin": False, "approver": False, "member": False, "viewer": True}
    assert "two-step" in text_of(owner.get(HOME))


def test_a_person_who_is_locked_out_is_shown_as_such(cast: Cast, owner: Client) -> None:
    user = User.objects.create_user("gone@acme.example", is_active=False)
    add_member(cast.account.id, user, Role.MEMBER)
    assert "locked out" in text_of(owner.get(HOME))


def test_the_number_of_queries_does_not_grow_with_the_people(cast: Cast, owner: Client) -> None:
    owner.get(HOME)  # notes that the session is in use
    with CaptureQueriesContext(connection) as few:
        owner.get(HOME)
    for number in range(5):
        user = User.objects.create_user(f"p{number}@acme.example")
        add_member(cast.account.id, user, Role.MEMBER)
    with CaptureQueriesContext(connection) as many:
        owner.get(HOME)
    assert len(many) == len(few)
