"""Forms, and how a refusal of the domain is told beside the field it is about."""

from django import forms

from memoryhub.common.errors import HubError


def show_refusal(form: forms.BaseForm, error: HubError) -> None:
    """Puts each message beside its field; what has no field on the form stands above it."""
    fields = error.details.get("fields")
    if not isinstance(fields, dict) or not fields:
        form.add_error(None, error.message)
        return
    for name, messages in fields.items():
        field = name.split(".")[0].split("[")[0]
        form.add_error(field if field in form.fields else None, [str(m) for m in messages])


class ListField(forms.CharField):
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
