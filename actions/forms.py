from django import forms
from django.utils.translation import gettext_lazy as _

from memoryhub.web.forms import JsonObjectField


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
