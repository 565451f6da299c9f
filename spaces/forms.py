from django import forms
from django.utils.translation import gettext_lazy as _

from memoryhub.web.forms import JsonField

HIDDEN_VERSION = forms.HiddenInput()


class ValueForm(forms.Form):
    """A value as it was when the form was opened (`version`), or after the person chose to write over a newer one."""

    value = JsonField(label=_("Value"), help_text=_("Any JSON, up to 64 KiB."))
    version = forms.IntegerField(min_value=0, widget=HIDDEN_VERSION)


class NewValueForm(ValueForm):
    namespace = forms.CharField(
        label=_("Namespace"), max_length=64, help_text=_("Small letters, digits, dots, hyphens.")
    )
    key = forms.CharField(label=_("Key"), max_length=128)
    field_order = ["namespace", "key", "value"]
