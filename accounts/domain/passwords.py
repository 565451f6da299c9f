"""Forgotten passwords, where no letter can help: who runs the hub hands the link over."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.db import transaction
from django.urls import reverse

from accounts.actor import Actor
from accounts.domain.addresses import mail_is_sent
from accounts.domain.events import record_event
from accounts.models import Membership
from memoryhub.common.errors import Forbidden, NotFound
from memoryhub.common.ids import typed_id


def make_reset_link(actor: Actor, email: str) -> str:
    """Lets a member choose a new password, once. Only for who runs the hub: it opens the other teams of theirs too.

    Where letters are sent, one of them is the way: that it comes back proves whose the address is.
    """
    if actor.kind != "system":
        raise Forbidden("Only who runs this hub can hand out a link to a new password.")
    if mail_is_sent():
        raise Forbidden(
            "This hub sends letters: they get a link by “Forgotten password” on the page for signing in."
        )
    with transaction.atomic():
        members = Membership.objects.filter(account_id=actor.account_id, user__is_active=True)
        found = members.filter(user__email__iexact=email.strip()).select_related("user").first()
        if found is None:
            raise NotFound("person")
        record_event(actor, "member.reset_link_made", "person", typed_id("usr", found.user_id))
        person, token = user_pk_to_url_str(found.user), default_token_generator.make_token(found.user)
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": person, "key": token})
    return f"{settings.PUBLIC_URL}{path}"
