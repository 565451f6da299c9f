"""What people, teams, spaces, keys, clients and rules may be called: others read the name and act on it."""

import re
import unicodedata
from itertools import groupby

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.odd import hiding_kinds, mixed_words
from memoryhub.common.secrets import cut_text
from memoryhub.common.text import check_text, is_blank, nfc

NAME_LENGTH = 120
MOST_MARKS = 4  # on one letter
# Joiners and non-joiners that the spelling of Persian, Urdu and the languages of India asks for.
SPELLING = re.compile(
    r"(?<=[\u0620-\u06ff\u0750-\u077f\u0900-\u0dff])[\u200c\u200d](?=[\u0620-\u06ff\u0750-\u077f\u0900-\u0dff])"
)


def check_naming(text: str, field: str = "name", *, longest: int = NAME_LENGTH) -> str:
    """The name as it is kept. ValidationFailed names the field."""
    check_text(text, field)
    name = nfc(text.strip())
    if fault := naming_fault(name, longest=longest):
        raise ValidationFailed({field: [fault]})
    return name


def naming_fault(name: str, *, longest: int = NAME_LENGTH) -> str:
    """What is wrong with it, or nothing."""
    if len(name) > longest:
        return f"Must have at most {longest} characters. Shorten it."
    if is_blank(name):
        return "Must have a character that can be seen."
    if "\n" in name or "\t" in name:
        return "Must be one line."
    if hidden := hiding_kinds(SPELLING.sub("", name)):
        return f"Must not hide anything: leave out the {hidden[0]}."
    if mixed := mixed_words(name):
        return f"Mixes letters of different scripts: {mixed[0]}. Write each word in one."
    if _has_piled_marks(name):
        return f"Must have at most {MOST_MARKS} marks on a letter."
    if cut_text(name)[1]:
        return "Must not hold a secret."
    return ""


def _has_piled_marks(name: str) -> bool:
    runs = groupby(unicodedata.category(character)[0] == "M" for character in name)
    return any(marks and len(list(run)) > MOST_MARKS for marks, run in runs)
