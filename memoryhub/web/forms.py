"""Forms, and how a refusal of the domain is told beside the field it is about."""

import json

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.translation import gettext as _

from memoryhub.common.errors import Forbidden, HubError


def show_refusal(form: forms.BaseForm, error: HubError, **names: str) -> None:
    """Puts each message beside its field; what has no field on the form stands above it.

    `names` are fields that the form calls otherwise than the domain does.
    """
    fields = error.details.get("fields")
    if not isinstance(fields, dict) or not fields:
        form.add_error(None, forms.ValidationError(error.message, code=error.code))
        return
    for name, messages in fields.items():
        field = name.split(".")[0].split("[")[0]
        field = names.get(field, field)
        form.add_error(field if field in form.fields else None, [str(m) for m in messages])


def form_status(form: forms.BaseForm) -> int:
    """The status of a page that shows the form again: its person may not, or what is in it won't do."""
    if form.has_error(NON_FIELD_ERRORS, Forbidden.code):
        return Forbidden.status
    return 422 if form.errors else 200


class LinesField(forms.CharField):
    """One item a line; empty lines are left out."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: object) -> object:
        return "\n".join(str(item) for item in value) if isinstance(value, list | tuple) else value

    def clean(self, value: str | None) -> list[str]:
        text = super().clean(value)
        return [line.strip() for line in text.splitlines() if line.strip()]


class CommaField(forms.CharField):
    """Items with commas between them, such as tags."""

    def prepare_value(self, value: object) -> object:
        return ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else value

    def clean(self, value: str | None) -> list[str]:
        text = super().clean(value)
        return [item.strip() for item in text.split(",") if item.strip()]


class JsonField(forms.CharField):
    """Any JSON value as text; `null`, `false` and `""` are values like others."""

    widget = forms.Textarea(attrs={"rows": 8, "class": "code-input", "spellcheck": "false"})

    def clean(self, value: str | None) -> object:
        text = super().clean(value)
        try:
            return json.loads(text, parse_constant=_refuse_constant)
        except ValueError as error:
            raise forms.ValidationError(_("This is not JSON: %(why)s.") % {"why": error}) from error


class JsonObjectField(JsonField):
    def clean(self, value: str | None) -> object:
        found = super().clean(value)
        if not isinstance(found, dict):
            raise forms.ValidationError(_("This has to be a JSON object: {…}."))
        return found


def pretty_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} has no JSON form")
