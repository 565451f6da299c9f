import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.test import Client

from accounts.actor import system_actor
from accounts.domain.addresses import is_proven
from accounts.domain.passwords import make_reset_link
from accounts.models import Event, User
from memoryhub.common.errors import Forbidden, NotFound
from tests.conftest import Cast
from tests.pages import text_of

NEW = "a horse of another colour"


@pytest.fixture(autouse=True)
def no_letters(settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"


@pytest.mark.usefixtures("inside")
def test_the_link_of_who_runs_the_hub_gives_a_member_a_new_password_once(cast: Cast) -> None:
    person = User.objects.get(id=cast.teammate.user_id)
    EmailAddress.objects.filter(user=person).update(verified=False)
    link = make_reset_link(system_actor(cast.account.id), person.email.upper())
    event = Event.objects.get(type="member.reset_link_made")
    assert (event.actor, event.object_id, event.summary) == ("system:system", f"usr_{person.id.hex}", "")

    page = Client().get(link, follow=True)
    form = page.redirect_chain[-1][0]
    page.client.post(form, {"password1": NEW, "password2": NEW})
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert not is_proven(person)
    assert 'name="password1"' not in text_of(Client().get(link, follow=True))


@pytest.mark.usefixtures("inside")
def test_it_is_for_members_of_the_team_alone(cast: Cast) -> None:
    stranger = User.objects.get(id=cast.outsider_person.user_id)
    for address in (stranger.email, "nobody@acme.example"):
        with pytest.raises(NotFound):
            make_reset_link(system_actor(cast.account.id), address)


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("who", ["owner", "admin", "agent"])
def test_nobody_in_a_team_makes_one(cast: Cast, who: str) -> None:
    with pytest.raises(Forbidden):
        make_reset_link(getattr(cast, who), User.objects.get(id=cast.viewer.user_id).email)


@pytest.mark.usefixtures("inside")
def test_where_letters_are_sent_a_letter_is_the_way(cast: Cast, settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    with pytest.raises(Forbidden, match="sends letters"):
        make_reset_link(system_actor(cast.account.id), User.objects.get(id=cast.teammate.user_id).email)
