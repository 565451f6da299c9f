from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from uuid import UUID

from allauth.account.forms import AddEmailForm, ResetPasswordForm
from allauth.account.internal.flows.email_verification import send_verification_email_to_address
from allauth.account.models import EmailAddress
from django import forms
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.domain.addresses import await_address
from accounts.domain.audit import Asked
from accounts.domain.keys import KeyChange
from accounts.models import User
from accounts.scopes import FAMILIES, Role, Scope
from memoryhub.web.forms import LinesField

PRESET_CHOICES = [
    ("agent", _("Agent"), _("Remembers, recalls, keeps records, proposes actions. Cannot forget or administer.")),
    ("reader", _("Reader"), _("Reads memories, records and the journal. Writes nothing.")),
    ("writer", _("Writer"), _("Reads and writes what is remembered. Proposes no actions.")),
    ("operator", _("Operator"), _("Everything a key can hold, forgetting and space settings included.")),
    ("custom", _("Chosen one by one"), _("Exactly the scopes that are ticked below.")),
]  # fmt: skip
EVERY_TOOL = "all"
TOOL_CHOICES = [
    (EVERY_TOOL, _("Every tool there is")),
    ("hub", _("Memories, journal, records, values, actions")),
    ("decisions", _("Decisions and session summaries")),
    ("paths", _("Paths, projects and the ledger")),
    ("zerodb", _("Those of ZeroDB")),
    ("connector", _("Search and fetch alone")),
]
PROFILE_CHOICES = [
    ("generic", _("Any client")),
    ("chatgpt", _("ChatGPT")),
    ("claude_plugin", _("Claude’s plugin")),
]
ROLE_NAMES = {
    Role.OWNER: _("Owner"),
    Role.ADMIN: _("Admin"),
    Role.APPROVER: _("Approver"),
    Role.MEMBER: _("Member"),
    Role.VIEWER: _("Viewer"),
}
LIFE_CHOICES = [(30, _("30 days")), (90, _("90 days")), (365, _("1 year"))]


class OwnerForm(forms.Form):
    """The person behind a one-time link."""

    name = forms.CharField(
        label=_("Your name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label=_("E-mail"),
        help_text=_("You sign in with it. Nothing is sent to it now."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        label=_("Password"),
        help_text=_("At least 10 characters, and not a common one."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class ProfileForm(forms.Form):
    """What a person is called, and which zone they see times in."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=120,
        help_text=_("Every team of yours sees it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.CharField(
        label=_("Time zone"),
        max_length=64,
        required=False,
        help_text=_("Such as Europe/Zurich. Empty is the one your browser is in."),
    )


class FirstOwnerForm(OwnerForm):
    team = forms.CharField(
        label=_("Team"), max_length=120, help_text=_("What you call yourselves; it can be changed.")
    )


class AddressForm(AddEmailForm):  # type: ignore[misc]
    """Another address, which waits beside the one that counts until the link in its letter is opened."""

    def save(self, request: HttpRequest) -> EmailAddress:
        address = await_address(self.user, self.cleaned_data["email"])
        send_verification_email_to_address(request, address)
        return address


class ForgottenForm(ResetPasswordForm):  # type: ignore[misc]
    """A letter that lets in goes only where its person signs in with, not where one still waits to be proven."""

    users: list[User]

    def clean_email(self) -> str:
        address: str = super().clean_email()
        self.users = [user for user in self.users if user.email == address.lower()]
        return address


def scopes_field(*, required: bool) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=_("Scopes"),
        required=required,
        choices=[(str(scope), str(scope)) for scope in Scope],
        widget=forms.CheckboxSelectMultiple,
    )


def addresses_field() -> LinesField:
    return LinesField(
        label=_("Only from these addresses"),
        required=False,
        help_text=_("One on a line. None is from anywhere."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "code-input", "spellcheck": "false"}),
    )


def device_field() -> forms.CharField:
    return forms.CharField(
        label=_("Device"),
        max_length=120,
        required=False,
        help_text=_("Where it runs, such as “laptop”. It stands beside what the agent writes."),
    )


class KeyForm(forms.Form):
    """A key for one agent. `spaces` are the (id, name) pairs the person may choose from."""

    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_(
            "Who will use it, such as “Claude Code on my laptop”. It is shown beside what the agent does."
        ),
    )
    preset = forms.ChoiceField(
        label=_("What it may do"),
        choices=[(value, label) for value, label, _help in PRESET_CHOICES],
        initial="agent",
        widget=forms.RadioSelect,
    )
    space = forms.ChoiceField(
        label=_("Space"), help_text=_("Where the agent reads and writes unless it names another.")
    )
    only_here = forms.BooleanField(label=_("Keep it to this space alone"), required=False, initial=True)
    life = forms.TypedChoiceField(label=_("Valid for"), choices=LIFE_CHOICES, coerce=int, initial=90)

    tools = forms.ChoiceField(
        label=_("Tools"),
        choices=TOOL_CHOICES,
        initial=EVERY_TOOL,
        required=False,
        help_text=_("Agents do better with few. The key has nothing of the others, over REST neither."),
    )
    profile = forms.ChoiceField(
        label=_("Client"),
        choices=PROFILE_CHOICES,
        initial="generic",
        required=False,
        help_text=_("Hosted clients may not create projects."),
    )

    device = device_field()
    scopes = scopes_field(required=False)
    addresses = addresses_field()

    def __init__(self, *args: object, spaces: Iterable[tuple[str, str]], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["space"].choices = list(spaces)  # type: ignore[attr-defined]

    @property
    def chosen_preset(self) -> str | None:
        preset: str = self.cleaned_data["preset"]
        return None if preset == "custom" else preset

    @property
    def chosen_scopes(self) -> list[str] | None:
        return self.cleaned_data["scopes"] if self.chosen_preset is None else None

    @property
    def presets(self) -> list[dict[str, object]]:
        """The choices with what each means, for laying out as cards."""
        chosen = self["preset"].value()
        return [
            {"value": value, "label": label, "help": help, "checked": value == chosen}
            for value, label, help in PRESET_CHOICES
        ]

    @property
    def families(self) -> tuple[str, ...]:
        chosen = self.cleaned_data["tools"]
        return FAMILIES if chosen in ("", EVERY_TOOL) else (chosen,)

    def expiry(self) -> datetime:
        return timezone.now() + timedelta(days=self.cleaned_data["life"])


class KeyChangeForm(forms.Form):
    """What a key holds, changed in place. `spaces` are the (id, name) pairs the person may choose from."""

    name = forms.CharField(label=_("Name"), max_length=120)
    scopes = scopes_field(required=True)
    families = forms.MultipleChoiceField(
        label=_("Tools"),
        choices=[(family, family) for family in FAMILIES],
        widget=forms.CheckboxSelectMultiple,
    )
    space = forms.ChoiceField(label=_("Space"), required=False)
    spaces = forms.MultipleChoiceField(
        label=_("Kept to these spaces"),
        required=False,
        help_text=_("None ticked is every space that its maker sees."),
        widget=forms.CheckboxSelectMultiple,
    )
    expires_on = forms.DateField(
        label=_("Valid until"),
        required=False,
        help_text=_("To the end of that day. Empty is without an end."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    device = device_field()
    addresses = addresses_field()

    def __init__(self, *args: object, of_spaces: Iterable[tuple[str, str]], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choices = list(of_spaces)
        self.fields["space"].choices = choices  # type: ignore[attr-defined]
        self.fields["spaces"].choices = choices  # type: ignore[attr-defined]

    def change(self) -> KeyChange:
        data = self.cleaned_data
        return KeyChange(
            name=data["name"],
            scopes=data["scopes"],
            families=data["families"],
            default_space_id=UUID(data["space"]) if data["space"] else None,
            space_ids=[UUID(id) for id in data["spaces"]] or None,
            expires_at=_midnight(data["expires_on"], 1),
            addresses=data["addresses"],
            device_label=data["device"],
        )

    def clean_expires_on(self) -> date | None:
        day: date | None = self.cleaned_data["expires_on"]
        if day and not timezone.localdate() <= day <= timezone.localdate() + timedelta(days=3650):
            raise forms.ValidationError(
                _("Choose a day from today on, within ten years. To end it now, revoke it.")
            )
        return day


class InviteForm(forms.Form):
    """`roles` are those that the inviting person may give."""

    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        help_text=_("Without one, the link is for whoever has it."),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=_("Role"), initial="member")

    def __init__(self, sent: QueryDict | None, *, roles: Iterable[Role]) -> None:
        super().__init__(sent)
        self.fields["role"].choices = [(str(role), ROLE_NAMES[role]) for role in roles]  # type: ignore[attr-defined]


class AuditForm(forms.Form):
    """What the audit trail is narrowed down to. Days are the viewer's."""

    noun = forms.ChoiceField(label=_("About"), required=False)
    by = forms.ChoiceField(label=_("By"), required=False)
    space = forms.ChoiceField(label=_("Space"), required=False)
    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    until = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    object = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)

    def __init__(self, sent: QueryDict, **choices: Mapping[str, str]) -> None:
        super().__init__(sent)
        for name, named in choices.items():
            given = [("", _("Everything")), *sorted(named.items(), key=lambda pair: pair[1].casefold())]
            self.fields[name].choices = given  # type: ignore[attr-defined]

    def asked(self) -> Asked:
        found = self.cleaned_data if self.is_valid() else {}
        space = found.get("space")
        return Asked(
            noun=found.get("noun", ""),
            by=found.get("by", ""),
            space=UUID(space) if space else None,
            object=found.get("object", ""),
            since=_midnight(found.get("since"), 0),
            until=_midnight(found.get("until"), 1),
        )


def _midnight(day: date | None, later: int) -> datetime | None:
    if day is None or day.year > 9998:
        return None
    return timezone.make_aware(datetime.combine(day + timedelta(days=later), time()))
