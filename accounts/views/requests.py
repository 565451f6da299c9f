from django.http import HttpRequest

from accounts.actor import Actor
from accounts.models import User
from memoryhub.common.secrets import Cut


class MemberRequest(HttpRequest):
    """A request under /a/<account>/: the middleware has made sure of the member, and works inside the account."""

    actor: Actor
    cut: Cut
    user: User
