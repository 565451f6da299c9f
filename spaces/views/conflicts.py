"""When somebody saved first: both versions side by side, and the choice between them."""

from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm


@dataclass(frozen=True)
class SaveConflict:
    """`fields` are the (name, text) pairs to post again, over `version`, if the person keeps theirs."""

    yours: str
    theirs: str
    version: int
    fields: list[tuple[str, str]]


def conflict_of(form: BaseForm, *, yours: str, theirs: str, version: int) -> SaveConflict:
    data: Any = form.data
    names = [name for name in form.fields if name != "version"]
    fields = [(name, text) for name in names for text in data.getlist(name)]
    return SaveConflict(yours, theirs, version, fields)
