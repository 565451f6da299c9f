from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.text import slugify

from accounts.actor import Actor
from accounts.domain.addresses import domain_of, is_proven_row
from accounts.domain.events import record_event
from accounts.models import Account, Membership, User
from accounts.scopes import ROLE_RIGHTS, Right, Role
from memoryhub.common.errors import Conflict, Forbidden, NotFound, ValidationFailed
from memoryhub.common.ids import parse_id, typed_id
from memoryhub.common.naming import check_naming
from memoryhub.common.postgres.rows import Columns
from memoryhub.common.postgres.statements import row_of
from memoryhub.common.tenancy import tenant

COLUMNS = Columns(Account)
FIND = f"select {', '.join(COLUMNS.names)} from accounts_account where id = %s"  # noqa: S608 (constants)
MANAGERS = [role for role in Role if Right.MANAGE in ROLE_RIGHTS[role]]


def create_account(name: str, slug: str | None = None) -> Account:
    """A new team, without members yet."""
    chosen = slug or slugify(name)
    if not chosen:
        raise ValidationFailed({"slug": ["Give a slug of letters, digits and hyphens."]})
    try:
        with transaction.atomic():
            return Account.objects.create(name=check_naming(name), slug=chosen)
    except IntegrityError as error:
        raise Conflict("An account with this slug exists already.") from error


def access_account(actor: Actor) -> Account:
    found = row_of(FIND, [actor.account_id])
    if found is None:
        raise NotFound("account")
    return COLUMNS.read(found)


def may_rename_account(actor: Actor) -> bool:
    return actor.kind in ("person", "system") and actor.has(Right.MANAGE)


def rename_account(actor: Actor, name: str) -> Account:
    """What the team is called. Its slug stays, and with it every address."""
    if not may_rename_account(actor):
        raise Forbidden("Renaming the team needs the role owner or admin.")
    name = check_naming(name)
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).get(id=actor.account_id)
        if account.name != name:
            account.name = name
            account.save(update_fields=["name"])
            record_event(actor, "account.renamed", "account", typed_id("acc", account.id))
    return account


def add_member(account_id: UUID, user: User, role: Role) -> Membership:
    """Add a person, or change the role of one who is a member already."""
    membership, _ = Membership.objects.update_or_create(
        account_id=account_id, user=user, defaults={"role": role}
    )
    return membership


def person_actor(user: User, account_slug: str, *, address: str = "") -> Actor:
    """The actor for a person's browser session in one of their accounts."""
    return _as_actor(Membership.objects.filter(account__slug=account_slug, user=user), address)


def member_actor(user_id: UUID, account_id: UUID) -> Actor:
    """The same for what is done in a person's name while they are away."""
    return _as_actor(Membership.objects.filter(account_id=account_id, user_id=user_id))


def _as_actor(memberships: QuerySet[Membership], address: str = "") -> Actor:
    membership = memberships.select_related("user").first()
    if membership is None or not membership.user.is_active:
        raise NotFound("account")
    return Actor(
        account_id=membership.account_id,
        kind="person",
        role=Role(membership.role),
        user_id=membership.user_id,
        address=address,
        name=membership.user.get_full_name(),
    )


@contextmanager
def acting_in(actor: Actor, account: str = "") -> Iterator[Actor]:
    """With the actor's own account in force, which a call may name. Every other is absent, as is one that never
    was, also where the person behind the actor is a member of it."""
    if account and parse_id("acc", account) != actor.account_id:
        raise NotFound("account")
    with tenant(actor.account_id):
        yield actor


def only_account(slug: str | None = None) -> Account:
    """The account named, or without a name the only one there is: for the operator of the installation."""
    accounts = Account.objects.filter(slug=slug) if slug else Account.objects.all()
    match list(accounts.order_by("slug")[:2]):
        case [account]:
            return account
        case []:
            raise NotFound("account")
    raise ValidationFailed({"account": ["There are several teams: name one."]})


def every_account() -> list[Account]:
    """For the operator of the installation."""
    return list(Account.objects.order_by("slug"))


def accounts_of(user: User) -> list[Account]:
    return list(Account.objects.filter(memberships__user=user).order_by("name", "id"))


def mail_domains(account_id: UUID) -> frozenset[str]:
    """Who has an address at one of them counts as inside the team: those of its members, as far as a letter has
    proven them, and of who manages it, who says so for all."""
    counted = Q(role__in=MANAGERS) | is_proven_row("user_id", "user__email")
    addresses = Membership.objects.filter(counted, account_id=account_id).values_list(
        "user__email", flat=True
    )
    return frozenset(domain_of(address) for address in addresses)
