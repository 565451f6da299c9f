"""Forms of what a space holds. `version` is that of the row when the form was opened, or after the person chose
to write over a newer one."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.scope_words import GRAVE, SCOPE_WORDS
from accounts.scopes import Scope
from memoryhub.common.odd import visible
from memoryhub.web.forms import CommaField, JsonField, JsonObjectField, LinesField
from spaces.domain.consent import Room
from spaces.models.memories import KINDS
from spaces.models.spaces import SECRET_POLICIES


class Versioned(forms.Form):
    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)


class ValueForm(Versioned):
    value = JsonField(label=_("Value"), help_text=_("Any JSON, up to 64 KiB."))


class NewValueForm(ValueForm):
    namespace = forms.CharField(
        label=_("Namespace"), max_length=64, help_text=_("Small letters, digits, dots, hyphens.")
    )
    key = forms.CharField(label=_("Key"), max_length=128)


class RecordForm(Versioned):
    status = forms.CharField(
        label=_("Status"),
        max_length=64,
        initial="open",
        help_text=_("One word, such as open, waiting, done."),
    )
    due_at = forms.CharField(
        label=_("Due"),
        max_length=40,
        required=False,
        help_text=_("2026-08-08 for a whole day, or 2026-08-08T14:00, in the space’s time zone."),
    )
    content = JsonObjectField(
        label=_("Data"), initial="{}", help_text=_("A JSON object; null removes a field.")
    )


class NewRecordForm(RecordForm):
    collection = forms.CharField(
        label=_("Collection"), max_length=64, help_text=_("Small letters, digits, dots, hyphens.")
    )
    key = forms.CharField(
        label=_("Key"), max_length=200, required=False, help_text=_("Makes it findable, and unique here.")
    )


class TransactionForm(forms.Form):
    type = forms.ChoiceField(
        label=_("Type"),
        choices=[
            ("expense", _("Expense")),
            ("income", _("Income")),
            ("refund", _("Refund")),
            ("transfer", _("Transfer")),
        ],
    )
    date = forms.CharField(
        label=_("Date"), max_length=10, required=False, help_text=_("2026-08-08; empty for today.")
    )
    amount = forms.CharField(label=_("Amount"), max_length=40, help_text=_("A decimal, like 12.50."))
    currency = forms.CharField(label=_("Currency"), max_length=3, help_text=_("Three letters, like EUR."))
    item = forms.CharField(label=_("What for"), max_length=500)
    category = forms.CharField(label=_("Category"), max_length=120, required=False)
    merchant = forms.CharField(label=_("Merchant"), max_length=200, required=False)
    payment_method = forms.CharField(label=_("Paid with"), max_length=120, required=False)
    note = forms.CharField(
        label=_("Note"), max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class ReminderForm(forms.Form):
    content = forms.CharField(label=_("What is to be done"), max_length=2000)
    due_at = forms.CharField(
        label=_("Due"),
        max_length=40,
        help_text=_("2026-08-08 for a whole day, or 2026-08-08T14:00, in the space’s time zone."),
    )
    recurrence = forms.CharField(
        label=_("Again"),
        max_length=200,
        required=False,
        help_text=_("daily, weekly, monthly, yearly, weekdays, or a rule like FREQ=WEEKLY;BYDAY=MO."),
    )


class JournalForm(Versioned):
    summary = forms.CharField(
        label=_("Summary"), max_length=10_000, required=False, widget=forms.Textarea(attrs={"rows": 5})
    )
    decisions = LinesField(label=_("Decisions"), required=False, help_text=_("One a line."))
    open_loops = LinesField(label=_("Open loops"), required=False, help_text=_("One a line."))
    source_refs = LinesField(label=_("Sources"), required=False, help_text=_("One a line."))


class NewJournalForm(JournalForm):
    date = forms.CharField(label=_("Date"), widget=forms.DateInput(attrs={"type": "date"}))
    kind = forms.ChoiceField(label=_("Of"), choices=[("day", _("the day")), ("week", _("its week"))])


class PlanForm(Versioned):
    title = forms.CharField(label=_("Title"), max_length=200)
    content = forms.CharField(
        label=_("Text"),
        max_length=200_000,
        help_text=_("In Markdown."),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "class": "code-input"}),
    )
    type = forms.ChoiceField(
        label=_("Type"),
        choices=[
            ("plan", _("plan")),
            ("prd", _("product requirements")),
            ("task", _("task list")),
            ("reasoning_trace", _("reasoning")),
        ],
        initial="plan",
    )
    status = forms.ChoiceField(
        label=_("Status"),
        choices=[("draft", _("draft")), ("active", _("active")), ("completed", _("completed"))],
        initial="draft",
    )
    tags = CommaField(label=_("Tags"), required=False, help_text=_("With commas between them."))


class MemoryForm(Versioned):
    text = forms.CharField(label=_("Statement"), max_length=50_000, widget=forms.Textarea(attrs={"rows": 3}))
    subject = forms.CharField(
        label=_("Subject"), max_length=120, required=False, help_text=_("Who or what it is about.")
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=[(k, k) for k in KINDS], initial="fact")
    tier = forms.ChoiceField(
        label=_("Tier"),
        choices=[
            ("core", _("core: always in context")),
            ("long", _("long: found when it matters")),
            ("scratch", _("scratch: gone after some days")),
        ],
        initial="long",
    )
    tags = CommaField(label=_("Tags"), required=False, help_text=_("With commas between them."))
    source_ref = forms.CharField(label=_("Source"), max_length=500, required=False)
    expires_at = forms.CharField(
        label=_("Expires"), max_length=40, required=False, help_text=_("2026-08-08, or empty for never.")
    )
    pinned = forms.BooleanField(
        label=_("Pinned"), required=False, help_text=_("Does not expire, and is left alone by clean-ups.")
    )


class TeamForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("Addresses stay as they are: they have the slug, not the name."),
    )


class NewSpaceForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("What it is about, such as a project or a customer.")
    )
    slug = forms.CharField(
        label=_("Slug"),
        max_length=64,
        required=False,
        help_text=_("Its name in addresses and for agents, which stays. Empty: made from the name."),
        widget=forms.TextInput(
            attrs={"class": "code-input", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    description = forms.CharField(
        label=_("Description"), max_length=1000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    time_zone = forms.CharField(
        label=_("Time zone"), max_length=64, help_text=_("Such as Europe/Zurich: when its days end.")
    )
    visibility = forms.ChoiceField(
        label=_("Open to"),
        choices=[("account", _("The whole team")), ("members", _("Named people only"))],
        initial="account",
    )


class SettingsForm(Versioned):
    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("Description"), max_length=1000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    time_zone = forms.CharField(label=_("Time zone"), max_length=64, help_text=_("Such as Europe/Zurich."))
    scratch_days = forms.IntegerField(
        label=_("Scratch memories last"), min_value=1, max_value=365, help_text=_("Days.")
    )
    secret_policy = forms.ChoiceField(
        label=_("When something holds a secret"),
        choices=[(name, _(said)) for name, said in SECRET_POLICIES],
        help_text=_("A private key, and what is little but a secret, is refused in any case."),
    )


class TryForm(forms.Form):
    sample = forms.CharField(
        label=_("A text as an agent would send it"),
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
    )


class DreamForm(forms.Form):
    mode = forms.ChoiceField(
        label=_("Who thinks"),
        choices=[
            ("off", _("Nobody: only near-identical memories are proposed for merging")),
            ("client", _("An agent, with its own model")),
            ("server", _("The language model that this hub is configured with")),
        ],
    )
    hours = forms.IntegerField(
        label=_("Hours between two dreams"),
        min_value=6,
        max_value=2160,
        help_text=_("At least 6. A dream also waits until something has changed."),
    )
    review = forms.BooleanField(
        label=_("Ask first"), required=False, help_text=_("Changes wait here until a person accepts them.")
    )


class ConsentForm(forms.Form):
    """What a client gets of what it asks for, and where it works."""

    granted = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Leave it at least one thing, or choose “Don’t allow”.")},
    )
    space = forms.ChoiceField(
        label=_("Space"), help_text=_("Where it reads and writes unless it names another.")
    )
    only_here = forms.BooleanField(label=_("Keep it to this space alone"), required=False)

    def __init__(self, *args: Any, rooms: Sequence[Room], scopes: Sequence[Scope], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        spaces = [(visible(r.account.name), [(str(s.id), visible(s.name)) for s in r.spaces]) for r in rooms]
        self.fields["space"].choices = spaces if len(spaces) > 1 else [s for _n, ss in spaces for s in ss]  # type: ignore[attr-defined]
        asked = [scope for scope in SCOPE_WORDS if scope in scopes]
        self.fields["granted"].choices = [(str(scope), SCOPE_WORDS[scope]) for scope in asked]  # type: ignore[attr-defined]

    @property
    def scopes(self) -> list[dict[str, object]]:
        """What is asked for, in words, for laying out."""
        chosen = self["granted"].value() or []
        return [
            {"value": value, "words": words, "checked": value in chosen, "grave": Scope(value) in GRAVE}
            for value, words in self.fields["granted"].choices  # type: ignore[attr-defined]
        ]
