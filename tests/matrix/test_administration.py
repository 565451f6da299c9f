"""Who may open the administration, and that its rows are those of the one account that staff chose.

A new model in it needs a line in MODELS.
"""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import URLPattern, reverse

from accounts.models import Event
from memoryhub.common.ids import typed_id
from memoryhub.common.tenancy import tenant
from memoryhub.web.admin import ACCOUNT_KEY
from tests.matrix.pages import ABSENT, EVERYBODY, FORBIDDEN, GOES_ON, SHOWN, SIGN_IN
from tests.matrix.test_pages import asks_again, outcome
from tests.matrix.world import THEIRS, Team, World, undone

pytestmark = pytest.mark.django_db

LOOK = {"changelist": SHOWN, "add": FORBIDDEN, "change": SHOWN, "history": SHOWN, "delete": FORBIDDEN}

# Model → what a superuser gets. Changing what a team holds is not for staff: the only thing they save is a person.
MODELS: dict[str, dict[str, str]] = {
    "accounts.Account": LOOK,
    "accounts.AgentKey": LOOK,
    "accounts.Application": LOOK,
    "accounts.Checkpoint": LOOK,
    "accounts.Event": LOOK,
    "accounts.Grant": LOOK,
    "accounts.Invitation": LOOK,
    "accounts.Job": LOOK,
    "accounts.Membership": LOOK,
    "accounts.User": LOOK,
    "actions.Action": LOOK,
    "actions.ActionRevision": LOOK,
    "actions.Approval": LOOK,
    "actions.Attempt": LOOK,
    "actions.Connection": LOOK,
    "actions.Delivery": LOOK,
    "actions.MailChoice": LOOK,
    "actions.Notice": LOOK,
    "actions.Policy": LOOK,
    "actions.PolicyVersion": LOOK,
    "actions.Webhook": LOOK,
    "actions.WebhookLetter": LOOK,
    "spaces.AutoContext": LOOK,
    "spaces.DreamChange": LOOK,
    "spaces.DreamRun": LOOK,
    "spaces.Capture": LOOK,
    "spaces.EmbeddingFailure": LOOK,
    "spaces.EmbeddingModel": LOOK,
    "spaces.JournalEntry": LOOK,
    "spaces.JournalVersion": LOOK,
    "spaces.Memory": LOOK,
    "spaces.MemoryChunk": LOOK,
    "spaces.MemoryVersion": LOOK,
    "spaces.Plan": LOOK,
    "spaces.PlanVersion": LOOK,
    "spaces.Record": LOOK,
    "spaces.RecordVersion": LOOK,
    "spaces.Reminder": LOOK,
    "spaces.Space": LOOK,
    "spaces.SpaceMember": LOOK,
    "spaces.Summary": LOOK,
    "spaces.SummaryItem": LOOK,
    "spaces.Transaction": LOOK,
    "spaces.Transfer": LOOK,
    "spaces.TransferPart": LOOK,
    "spaces.Value": LOOK,
}
OURS = ("accounts", "actions", "spaces")
SAVED = {"accounts.User"}
OF_NO_ACCOUNT = {"accounts.Application", "spaces.EmbeddingModel"}

# The other pages of the administration → what staff without any permission gets.
OTHERS = {
    "choose-account": SHOWN,
    "index": SHOWN,
    "login": FORBIDDEN,
    "logout": "not so",
    "password_change": SHOWN,
    "password_change_done": SHOWN,
    "autocomplete": FORBIDDEN,
    "jsi18n": SHOWN,
    "view_on_site": "absent",
    "app_list": "absent",
}
CHOOSE = "/admin/account/"
STAFF = ("staff", "superuser")
ADDRESSES: dict[str, list[Any]] = {"view_on_site": [1, 1], "app_list": ["spaces"]}

EVERY = pytest.mark.parametrize("model", MODELS)


def test_every_model_of_the_administration_is_declared() -> None:
    assert {model._meta.label for model in admin.site._registry} == set(MODELS), (
        "say in MODELS who may do what"
    )


def test_every_model_of_ours_is_in_the_administration() -> None:
    ours = {model._meta.label for model in apps.get_models() if model._meta.app_label in OURS}
    assert ours == set(MODELS)


def test_every_other_page_of_the_administration_is_declared() -> None:
    named = {p.name for p in admin.site.get_urls() if isinstance(p, URLPattern) and p.name}
    assert named == set(OTHERS), "say in OTHERS what staff get"


@pytest.fixture(scope="module")
def entered(world: World) -> World:
    """Staff and the superuser have chosen our account."""
    for person in ("staff", "superuser"):
        answer = world.browser(person).post(CHOOSE, {"account": typed_id("acc", world.ours.account.id)})
        assert outcome(answer) == GOES_ON
    return world


@EVERY
@pytest.mark.parametrize("page", LOOK)
def test_a_page_of_a_model_is_for_staff_with_the_permission(entered: World, model: str, page: str) -> None:
    address = address_of(model, page, row_of(model, entered.ours))
    found = {who: opened(entered, who, address) for who in EVERYBODY}
    declared = {**dict.fromkeys(EVERYBODY, FORBIDDEN), "nobody": SIGN_IN, "superuser": MODELS[model][page]}
    assert found == declared


@EVERY
def test_one_permission_opens_one_model(entered: World, model: str) -> None:
    other = next(m for m in MODELS if m != model)
    with undone():
        look_at(entered, model)
        found = [opened(entered, "staff", address_of(m, "changelist")) for m in (model, other)]
    assert found == [SHOWN, FORBIDDEN]


@EVERY
def test_nothing_is_saved_but_a_persons_standing(entered: World, model: str) -> None:
    address = address_of(model, "change", row_of(model, entered.ours))
    with undone():
        assert outcome(entered.browser("superuser").post(address, {})) == (
            GOES_ON if model in SAVED else FORBIDDEN
        )


@EVERY
def test_rows_are_those_of_the_account_that_was_chosen(entered: World, model: str) -> None:
    superuser, theirs = entered.browser("superuser"), row_of(model, entered.theirs)
    listed = superuser.get(address_of(model, "changelist")).content.decode()
    assert THEIRS not in listed
    assert str(row_of(model, entered.ours)) in listed
    if model not in OF_NO_ACCOUNT:
        assert str(theirs) not in listed
        for page in ("change", "history", "delete"):
            answer = superuser.get(address_of(model, page, theirs))
            assert outcome(answer) in (GOES_ON, FORBIDDEN), page
            assert THEIRS not in answer.content.decode()


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "logout"])  # which is open to all
def test_each_other_page_is_for_staff(entered: World, name: str) -> None:
    address = reverse(f"admin:{name}", args=ADDRESSES.get(name, []))
    with undone():
        found = {who: opened(entered, who, address) for who in ("nobody", "owner", "staff")}
    assert found == {"nobody": SIGN_IN, "owner": FORBIDDEN, "staff": OTHERS[name]}


@pytest.mark.parametrize("account", ["nonsense", "", "acc_" + "0" * 32])
def test_an_account_that_is_none_can_not_be_entered(world: World, account: str) -> None:
    assert outcome(world.browser("superuser").post(CHOOSE, {"account": account})) == ABSENT


def test_an_account_is_entered_by_staff_alone_and_its_people_read_of_it(world: World) -> None:
    with undone():
        id = typed_id("acc", world.theirs.account.id)
        found = {who: opened(world, who, CHOOSE, {"account": id}) for who in EVERYBODY}
        with tenant(world.theirs.account.id):
            entries = list(Event.objects.filter(type="admin.entered").values_list("actor", flat=True))
    assert found == {
        **dict.fromkeys(EVERYBODY, FORBIDDEN),
        "nobody": SIGN_IN,
        **dict.fromkeys(STAFF, GOES_ON),
    }
    assert entries == [f"staff:{world.strangers[person].id}" for person in STAFF]


@pytest.mark.parametrize(
    "address",
    [CHOOSE, "/admin/spaces/space/", "/admin/accounts/user/{person}/change/", "/admin/password_change/"],
)
def test_whatever_staff_send_asks_who_signed_in_long_ago(entered: World, address: str) -> None:
    """Leaving does not."""
    client = Client()
    client.force_login(entered.strangers["superuser"])
    there = address.format(person=entered.ours.people["viewer"].id)
    with undone():
        assert asks_again(client.post(there, {"account": typed_id("acc", entered.theirs.account.id)}))
        assert not asks_again(client.post("/admin/logout/"))
    assert ACCOUNT_KEY not in client.session


def opened(world: World, who: str, address: str, form: dict[str, str] | None = None) -> str:
    """The outcome, after the administration's own sign-in, which only sends people on."""
    client = world.browser(who)
    answer = client.get(address) if form is None else client.post(address, form)
    if answer.status_code == 302 and answer["Location"].startswith(reverse("admin:login")):
        answer = client.get(answer["Location"])
    return outcome(answer)


def look_at(world: World, model: str) -> None:
    """Staff get the permission to look at this model."""
    app, name = model.lower().split(".")
    content_type = ContentType.objects.get(app_label=app, model=name)
    permission = Permission.objects.get(content_type=content_type, codename=f"view_{name}")
    world.strangers["staff"].user_permissions.add(permission)


def row_of(model: str, team: Team) -> object:
    """The id of a row that the administration shows in that team's account."""
    kind = apps.get_model(model)
    path = getattr(admin.site._registry[kind], "account_path", "")
    with tenant(team.account.id):
        rows = (
            kind.objects.all() if model in OF_NO_ACCOUNT else kind.objects.filter(**{path: team.account.id})
        )
        return rows.order_by("-pk").values_list("pk", flat=True)[0]


def address_of(model: str, page: str, row: object = None) -> str:
    app, name = model.lower().split(".")
    return reverse(f"admin:{app}_{name}_{page}", args=[] if page in ("changelist", "add") else [row])
