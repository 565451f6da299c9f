import pytest

from accounts.domain.accounts import add_member, mail_domains
from accounts.domain.addresses import prove_address
from accounts.models import User
from accounts.scopes import Role
from actions.domain.facts import reach_of, warnings_in
from actions.models import Action
from tests.actions.stage import approve, proposed
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")


def about(cast: Cast, text: object) -> Action:
    return proposed(cast, payload={"x": text})


def test_recipients_are_inside_by_the_domains_of_the_teams_own_members(cast: Cast) -> None:
    reach = reach_of(
        about(cast, ["Ann <ann@ACME.example>", {"bo@acme.example.evil.example": "cy@globex.example"}])
    )
    assert reach.inside == ("ann@ACME.example",)
    assert reach.outside == ("bo@acme.example.evil.example", "cy@globex.example")


def test_what_a_member_only_says_is_their_address_makes_nobody_an_insider(cast: Cast) -> None:
    user = User.objects.create_user("me@rival.example")
    add_member(cast.account.id, user, Role.MEMBER)
    action = about(cast, "boss@rival.example")
    assert reach_of(action).outside == ("boss@rival.example",)
    prove_address(user)
    assert reach_of(action).inside == ("boss@rival.example",)


def test_who_manages_the_team_says_who_is_inside_also_where_no_letter_can_prove_it(cast: Cast) -> None:
    action = about(cast, "boss@corp.example")
    for role, reached in ((Role.APPROVER, ()), (Role.ADMIN, ("boss@corp.example",))):
        add_member(cast.account.id, User.objects.create_user(f"{role}@corp.example"), role)
        assert reach_of(action).inside == reached


def test_a_recipient_is_new_until_an_action_to_them_was_agreed_to(cast: Cast) -> None:
    first = about(cast, "to ann@elsewhere.example")
    assert reach_of(first).first_time == ("ann@elsewhere.example",)
    again = about(cast, "ann@elsewhere.example and bo@elsewhere.example")
    assert reach_of(again).first_time == ("ann@elsewhere.example", "bo@elsewhere.example")
    approve(cast.approver, first)
    assert reach_of(again).first_time == ("bo@elsewhere.example",)
    assert reach_of(first).first_time == ("ann@elsewhere.example",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("@here look", ("@here",)),
        ("<!channel> hi @everyone", ("<!channel>", "@everyone")),
        ("mail@here.example", ()),
        ("@hereby", ()),
    ],
)
def test_mentions_that_notify_everyone_are_told(cast: Cast, text: str, told: tuple[str, ...]) -> None:
    assert reach_of(about(cast, text)).everyone == told


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("plain", []),
        ("gpj\u202eexe", ["hidden"]),
        ("p\u0430ypal", ["mixed"]),
        ("ann@elsewhere.example", ["outside"]),
        ("@channel", ["everyone"]),
        ("ann@acme.example", []),
    ],
)
def test_a_row_warns_of_what_should_make_a_reader_stop(cast: Cast, text: str, warnings: list[str]) -> None:
    assert warnings_in(about(cast, text), mail_domains(cast.account.id)) == warnings
    assert warnings_in(about(cast, {text: 1}), mail_domains(cast.account.id)) == warnings
