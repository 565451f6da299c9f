import pytest

from accounts.domain.staff import enter_account, list_every_account
from accounts.models import Event, User
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from tests.conftest import Cast


@pytest.fixture
def staff(cast: Cast) -> User:
    return User.objects.create_user("staff@hub.example", "correct horse battery", is_staff=True)


def test_staff_entering_an_account_is_written_into_its_events(cast: Cast, staff: User) -> None:
    assert enter_account(staff, cast.account.id).id == cast.account.id
    with tenant(cast.account.id):
        event = Event.objects.get(type="admin.entered")
    assert (event.actor, event.object_type) == (f"staff:{staff.id}", "account")


def test_staff_see_every_account_to_choose_from(cast: Cast, staff: User) -> None:
    assert [account.name for account in list_every_account(staff)] == ["Acme", "Globex"]


def test_nobody_else_enters_an_account_or_sees_the_list(cast: Cast) -> None:
    owner = User.objects.get(id=cast.owner.user_id)
    with pytest.raises(Forbidden):
        enter_account(owner, cast.account.id)
    with pytest.raises(Forbidden):
        list_every_account(owner)


def test_an_account_that_is_not_there_is_not_entered(cast: Cast, staff: User) -> None:
    with pytest.raises(NotFound):
        enter_account(staff, new_id())
