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


class PolicyForm(forms.Form):
    """A rule. What its conditions may be is told beside the form, class by class."""

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
    )
    conditions = JsonObjectField(
        label=_("Conditions"),
        initial="{}",
        widget=forms.Textarea(attrs={"rows": 6, "class": "code-input", "spellcheck": "false"}),
        help_text=_("All of them have to hold; {} for none."),
    )
    approvals = forms.TypedChoiceField(
        label=_("People who have to agree"), choices=[(1, "1"), (2, "2"), (3, "3")], coerce=int, initial=1
    )
    per_hour = forms.IntegerField(label=_("At most an hour"), required=False, min_value=0, max_value=100_000)
    per_day = forms.IntegerField(label=_("At most a day"), required=False, min_value=0, max_value=100_000)
