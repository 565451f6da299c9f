import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import zip_longest
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from actions.domain.notices.choices import HOURS
from actions.domain.notices.telling import EVENTS
from actions.domain.policies.conditions import ANY_CLASS, BY_CLASS, NOT_OF_CLASS, PINNED
from actions.models import MailMode
from memoryhub.common.errors import HubError, ValidationFailed
from memoryhub.common.text import parse_json
from memoryhub.web.forms import JsonObjectField, show_refusal


class TokenForm(forms.Form):
    """A token that a person has from a vendor. It is never shown again, not even to them."""

    token = forms.CharField(
        label=_("Token"),
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False),
        help_text=_("It is sealed before it is stored, and shown to nobody again."),
    )


class PayloadForm(forms.Form):
    """What an action would do, as JSON; `digest` is of what the person had before them."""

    payload = JsonObjectField(
        label=_("Payload"),
        widget=forms.Textarea(attrs={"rows": 16, "class": "code-input", "spellcheck": "false"}),
        help_text=_("It is checked and brought into its class’s form. You then see it anew, and decide."),
    )
    digest = forms.CharField(widget=forms.HiddenInput, max_length=64)


CONDITION_WORDS = {
    "channels": _("channel is one of"),
    "repositories": _("repository is one of"),
    "parents": _("it is put below one of"),
    "domains": _("who it reaches is at one of"),
    "recipients": _("who it reaches is one of"),
    "max_length": _("characters are at most"),
    "max_minutes": _("minutes are at most"),
    "max_blocks": _("blocks are at most"),
    "no_mentions": _("it notifies nobody by name"),
    "no_mail": _("guests get no mail"),
    PINNED: _("payload member is"),
}
EMPTY_ROWS, MORE_ROWS, MOST_ROWS = 2, 6, 200


@dataclass
class ConditionRow:
    """One condition as a person writes it; `member` is for those that pin one of the payload's. `faults` are told
    beside the control that they are about."""

    what: str = ""
    member: str = ""
    value: str = ""
    faults: dict[str, list[str]] = dataclass_field(default_factory=dict)

    @property
    def words(self) -> str:
        said = str(CONDITION_WORDS.get(self.what, self.what))
        return f"{self.member} {_('is')}" if self.what == PINNED else said

    @property
    def choices(self) -> list[tuple[str, list[tuple[str, str, bool]]]]:
        """Under the classes that they are for."""
        grouped: dict[str, list[tuple[str, str, bool]]] = {}
        for name, words in CONDITION_WORDS.items():
            classes = ", ".join(c for c, known in BY_CLASS.items() if name in known)
            choice = (name, str(words), name == self.what)
            grouped.setdefault(classes or str(_("any class")), []).append(choice)
        return list(grouped.items())

    def read_into(self, found: dict[str, Any]) -> None:
        """Adds what the row says, or notes why it says nothing."""
        condition = KNOWN.get(self.what)
        if condition is None:
            self.blame("what", _("Choose what has to hold, or empty the row."))
        elif self.what == PINNED:
            self._pin(found.setdefault(PINNED, {}))
        elif self.what in found:
            self.blame("what", _("Stands in another row already. Put both into one."))
        else:
            self._read(condition.kind, found)

    def _pin(self, members: dict[str, Any]) -> None:
        if not self.member.strip():
            self.blame("member", _("Name the member of the payload."))
        elif self.member in members:
            self.blame("member", _("Stands in another row already."))
        else:
            members[self.member] = json_or_text(self.value)

    def _read(self, kind: str, found: dict[str, Any]) -> None:
        value: Any = True
        if kind != "yes":
            value = self._number() if kind == "number" else self._names()
        if value is None or value == []:
            told = _("Must be a whole number from 0.") if kind == "number" else _("Name at least one.")
            self.blame("value", told)
        else:
            found[self.what] = value

    def _names(self) -> list[str]:
        given = json_or_text(self.value)
        if isinstance(given, list) and all(isinstance(name, str) for name in given):
            return given
        return [name.strip() for name in re.split(r"[,\n]", self.value) if name.strip()]

    def _number(self) -> int | None:
        return (
            int(self.value)
            if self.value.isascii() and self.value.isdigit() and len(self.value) < 10
            else None
        )

    def blame(self, control: str, message: object) -> None:
        self.faults.setdefault(control, []).append(str(message))


KNOWN = {**ANY_CLASS, **{name: c for conditions in BY_CLASS.values() for name, c in conditions.items()}}


def rows_of(conditions: Mapping[str, Any]) -> list[ConditionRow]:
    """As they are written in a form, so that they read back the same."""
    rows = []
    for name, value in conditions.items():
        if name == PINNED:
            rows += [ConditionRow(PINNED, member, _written(pinned)) for member, pinned in value.items()]
        elif isinstance(value, list):
            rows.append(ConditionRow(name, value=_listed(value)))
        else:
            rows.append(ConditionRow(name, value="" if value is True else str(value)))
    return rows


def _listed(names: list[str]) -> str:
    plain = all(name == name.strip() and name and not re.search(r"[,\n\[]", name) for name in names)
    return ", ".join(names) if plain else json.dumps(names, ensure_ascii=False)


def _written(value: Any) -> str:
    bare = isinstance(value, str) and value == value.strip() and not re.search(r"[\r\n]", value)
    return value if bare and json_or_text(value) == value else json.dumps(value, ensure_ascii=False)


def json_or_text(text: str) -> Any:
    """What JSON says; what is none stands for itself."""
    try:
        return parse_json(text.encode())
    except HubError:
        return text


class PolicyForm(forms.Form):
    """A rule. Its conditions are `rows`, of any number: the fields `what`, `member` and `value` are sent once for
    each of them."""

    name = forms.CharField(label=_("Name"), max_length=120)
    effect = forms.ChoiceField(
        label=_("What it does"),
        choices=[("deny", _("Denies")), ("require", _("Asks people")), ("auto", _("Approves by itself"))],
        initial="require",
    )
    class_name = forms.CharField(
        label=_("Class"),
        max_length=64,
        required=False,
        help_text=_("Like slack.send; empty for every class."),
        widget=forms.TextInput(attrs={"list": "known-classes", "autocomplete": "off"}),
    )
    approvals = forms.TypedChoiceField(
        label=_("People who have to agree"), choices=[(1, "1"), (2, "2"), (3, "3")], coerce=int, initial=1
    )
    per_hour = forms.IntegerField(label=_("At most an hour"), required=False, min_value=0, max_value=100_000)
    per_day = forms.IntegerField(label=_("At most a day"), required=False, min_value=0, max_value=100_000)

    def __init__(
        self,
        sent: QueryDict | None,
        *,
        initial: Mapping[str, Any],
        rows: list[ConditionRow],
        empty: int = EMPTY_ROWS,
    ) -> None:
        super().__init__(sent, initial=dict(initial))
        self.filled, self.empty = rows, empty

    @property
    def rows(self) -> list[ConditionRow]:
        return [*self.filled, *(ConditionRow() for _row in range(self.empty))]

    def clean(self) -> dict[str, Any]:
        conditions: dict[str, Any] = {}
        for row in self.filled[:MOST_ROWS]:
            row.read_into(conditions)
        if len(self.filled) > MOST_ROWS or any(row.faults for row in self.filled):
            self.add_error(None, _("A condition can’t be read. What is wrong stands beside it."))
        return {**self.cleaned_data, "conditions": conditions}

    def tell(self, error: HubError) -> None:
        """A refusal of the domain, beside what it is about; what is about no control stands above the form."""
        fields = error.details.get("fields")
        others = dict(fields) if isinstance(fields, dict) else {}
        for name in [name for name in others if name.startswith("conditions.")]:
            self._blame(name.removeprefix("conditions."), others.pop(name))
        if others or not self.errors:
            show_refusal(self, ValidationFailed(others) if others else error)

    def _blame(self, condition: str, messages: list[str]) -> None:
        first = next((row for row in self.filled if row.what == condition), None)
        if first is None:
            self.add_error(None, [f"{condition}: {message}" for message in messages])
            return
        for message in messages:
            first.blame("what" if message == NOT_OF_CLASS else "value", message)
        self.add_error(None, _("A condition can’t be used. What is wrong stands beside it."))


def sent_rows(sent: QueryDict) -> list[ConditionRow]:
    """Those in which anything was written. Browsers send a line break as two characters."""
    told = zip_longest(*(sent.getlist(name) for name in ("what", "member", "value")), fillvalue="")
    rows = [ConditionRow(what, member, value.replace("\r\n", "\n").strip()) for what, member, value in told]
    return [row for row in rows if row.what or row.member.strip() or row.value]


class MailForm(forms.Form):
    """When one is written to."""

    mode = forms.ChoiceField(
        label=_("Write to me"),
        choices=[
            (MailMode.RISKY, _("At once of what is of high risk, the rest gathered")),
            (MailMode.EACH, _("At once of everything")),
            (MailMode.GATHERED, _("Gathered, whatever it is")),
            (MailMode.NONE, _("Never")),
        ],
    )
    hours = forms.TypedChoiceField(
        label=_("Gathered for"),
        choices=[(HOURS[0], _("an hour")), (HOURS[1], _("four hours")), (HOURS[2], _("a day"))],
        coerce=int,
    )


EVENT_NAMES = {
    "action.proposed": _("proposed"),
    "action.revised": _("changed before a decision"),
    "action.seconded": _("agreed to, and more people are asked"),
    "action.approved": _("approved"),
    "action.rejected": _("rejected"),
    "action.executing": _("being carried out"),
    "action.done": _("done"),
    "action.failed": _("failed"),
    "action.expired": _("expired"),
    "action.cancelled": _("cancelled"),
    "action.stale": _("claimed an hour ago, and nothing heard"),
    "action.in_doubt": _("not known whether it was carried out"),
    "action.settled": _("settled by a person"),
}


class WebhookForm(forms.Form):
    """`kept` says that there is one already: its address is not shown again, and stays if none is given."""

    name = forms.CharField(label=_("Name"), max_length=120)
    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=forms.URLInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "https://"}
        ),
    )
    events = forms.MultipleChoiceField(
        label=_("When an action is"),
        choices=[(event, EVENT_NAMES[event]) for event in EVENTS],
        widget=forms.CheckboxSelectMultiple,
    )
    space = forms.ChoiceField(label=_("In"), required=False)

    def __init__(self, *args: Any, spaces: list[tuple[str, str]], kept: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["space"]
        field.choices = [("", _("every space")), *spaces]
        self.fields["url"].required = not kept
        hint = (
            _("Kept as it is if you leave this empty.")
            if kept
            else _("It is sealed; its host stays readable.")
        )
        self.fields["url"].help_text = hint
