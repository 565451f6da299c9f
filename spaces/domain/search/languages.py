"""Which stemmer and which stop words a word gets, from the languages asked for and from its script."""

from dataclasses import dataclass
from importlib import import_module
from threading import local
from typing import Protocol

from spaces.domain.search.normalise import fold
from spaces.domain.search.stopwords import STOP_WORDS

Languages = tuple[str, ...]
DEFAULT_LANGUAGES: Languages = ("en",)


@dataclass(frozen=True)
class Language:
    stemmer: str
    script: str = "latin"
    folded: bool = False  # its stemmer works on words whose accents are already gone


LANGUAGES: dict[str, Language] = {
    "en": Language("english", folded=True),
    "de": Language("german"),
    "fr": Language("french"),
    "es": Language("spanish"),
    "it": Language("italian"),
    "pt": Language("portuguese"),
    "nl": Language("dutch"),
    "sv": Language("swedish"),
    "da": Language("danish"),
    "no": Language("norwegian"),
    "fi": Language("finnish"),
    "hu": Language("hungarian"),
    "ro": Language("romanian"),
    "pl": Language("polish"),
    "cs": Language("czech"),
    "tr": Language("turkish"),
    "id": Language("indonesian"),
    "ru": Language("russian", "cyrillic"),
    "el": Language("greek", "greek"),
    "ar": Language("arabic", "arabic"),
    "hi": Language("hindi", "devanagari"),
    "ta": Language("tamil", "tamil"),
    "hy": Language("armenian", "armenian"),
}

# A script says almost as much as a setting: used when none of the languages asked for is written in it.
_BY_SCRIPT: dict[str, Languages] = {
    "cyrillic": ("ru",),
    "greek": ("el",),
    "arabic": ("ar",),
    "hebrew": ("he",),
    "devanagari": ("hi",),
    "tamil": ("ta",),
    "armenian": ("hy",),
}
_SCRIPTS = (
    (0x0041, 0x024F, "latin"), (0x0370, 0x03FF, "greek"), (0x0400, 0x052F, "cyrillic"),
    (0x0531, 0x0587, "armenian"), (0x05D0, 0x05F2, "hebrew"), (0x0620, 0x06D3, "arabic"),
    (0x0900, 0x097F, "devanagari"), (0x0B80, 0x0BFF, "tamil"), (0x1E00, 0x1EFF, "latin"),
    (0x1F00, 0x1FFF, "greek"),
)  # fmt: skip
_LONGEST_STEMMED = 40


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802


def script_of(word: str) -> str:
    """The script of the first character that has one of those we know a stemmer or stop words for, or ""."""
    for character in word:
        for first, last, script in _SCRIPTS:
            if first <= ord(character) <= last:
                return script
    return ""


def stems(word: str, languages: Languages) -> tuple[str, ...]:
    """The word's folded stems, one for each language it may be in (alike ones once); never empty."""
    folded = fold(word)
    if len(folded) < 3 or len(folded) > _LONGEST_STEMMED or any(map(str.isdigit, folded)):
        return (folded,)
    found = (_stem(word, folded, code) for code in _spoken(word, languages) if code in LANGUAGES)
    return tuple(dict.fromkeys(found)) or (folded,)


def is_stop_word(word: str, languages: Languages) -> bool:
    folded = fold(word)
    return any(folded in STOP_WORDS.get(code, ()) for code in _spoken(word, languages))


def _spoken(word: str, languages: Languages) -> Languages:
    script = script_of(word)
    asked = tuple(code for code in languages if code in LANGUAGES and LANGUAGES[code].script == script)
    return asked or _BY_SCRIPT.get(script, ())


def _stem(word: str, folded: str, code: str) -> str:
    language = LANGUAGES[code]
    stemmed = _stemmer(language.stemmer).stemWord(folded if language.folded else word.casefold())
    return fold(stemmed) or folded


_instances = local()


def _stemmer(name: str) -> _Stemmer:
    """This thread's own instance, since a stemmer keeps the word it works on.

    Taken from the module rather than by `snowballstemmer.stemmer`, which answers another release of the
    algorithms where PyStemmer happens to be installed: an index must not depend on that.
    """
    stemmer: _Stemmer | None = getattr(_instances, name, None)
    if stemmer is None:
        module = import_module(f"snowballstemmer.{name}_stemmer")
        stemmer = getattr(module, f"{name.capitalize()}Stemmer")()
        setattr(_instances, name, stemmer)
    return stemmer
