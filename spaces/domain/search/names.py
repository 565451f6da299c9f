"""One word and all it is found by: everyday words, identifiers, paths, tickets, versions, addresses."""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from functools import lru_cache

from spaces.domain.search.languages import Languages, is_stop_word, stems
from spaces.domain.search.normalise import fold

LONGEST_LEXEME = 64
_LONGEST_NAME = 256  # a longer unbroken run (base64, minified code) is no name: only its parts are read
_MOST_PARTS = 12  # of an identifier; with more, or with more changes between letters and digits, it is a hash
_MOST_CHANGES = 4
_QUOTED = 7  # characters of a commit's hash that people quote

_ENDING = re.compile(r"'(?:s|ll|re|ve|d|m)$", re.I)
_SEGMENTS = re.compile(r"[/\\:,@~%]+|(?<!\+)[#+](?=[^\W_])")
_NAMES = re.compile(r"[.\-'&]+")
_PARTS = re.compile(r"_+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CHANGES = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_CAPITALS = re.compile(r"[A-Z]{2,}s")  # APIs, URLs: a plural, not two parts
_SYMBOLIC = re.compile(
    r"(?P<dot>\.?)(?P<letters>[^\W\d_]+)(?P<sign>\+\+?|\#|)(?P<number>\d*)"
)  # C++17, C#, .NET
_VERSION = re.compile(r"(?<![^\W\d_])[vV](?=\d+\.\d)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"(\d+\.\d+)(?:\.\d+)*")
_COMMIT = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Word:
    """What one word of a text is found by.

    A text that holds all `leaves`, or any one of `forms`, holds the word. `hints` are related but weaker: a
    file's name for its path, a character for its pair. `grammar` are those lexemes that are stop words.
    """

    text: str
    leaves: tuple[str, ...]
    forms: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    grammar: frozenset[str] = frozenset()
    lexemes: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lexemes", tuple(dict.fromkeys(self.forms + self.leaves + self.hints)))

    @property
    def stop(self) -> bool:
        return self.grammar.issuperset(self.lexemes)

    @property
    def telling(self) -> tuple[str, ...]:
        """The lexemes worth looking for: not the `by` of `getUserById`."""
        return tuple(lexeme for lexeme in self.lexemes if lexeme not in self.grammar) or self.lexemes

    def held_by(self, lexemes: Set[str]) -> bool:
        return all(leaf in lexemes for leaf in self.leaves) or any(form in lexemes for form in self.forms)


def word_of(text: str, languages: Languages) -> Word:
    """The word that an unbroken run of cleaned text is. It has no leaves if nothing in the text is a word."""
    return _cached(text, languages) if len(text) <= LONGEST_LEXEME else _path(text, languages)


@lru_cache(1 << 14)
def _cached(text: str, languages: Languages) -> Word:
    if text.isalpha() and not _PARTS.search(text):
        return _plain(text, languages)
    if "'" in text and is_stop_word(text, languages):
        contraction = fold(text.replace("'", ""))
        return Word(text, (contraction,), grammar=frozenset((contraction,)))
    return _path(_ENDING.sub("", text), languages)


def _plain(text: str, languages: Languages) -> Word:
    leaf, *others = (stem[:LONGEST_LEXEME] for stem in stems(text, languages))
    stop = is_stop_word(text, languages)
    return Word(text, (leaf,), tuple(others), grammar=frozenset((leaf, *others)) if stop else frozenset())


def _path(text: str, languages: Languages) -> Word:
    """`src/billing/invoice_utils.py`, `ann@example.com`, `14:00`: segments, and the whole."""
    segments = [_segment(segment, languages) for segment in _SEGMENTS.split(text) if segment.strip("_")]
    if len(segments) < 2:
        return segments[0] if segments else Word(text, ())
    forms = [_whole(text)] if len(text) <= _LONGEST_NAME else []
    if _GROUPED.fullmatch(text):
        forms.append(text.replace(",", ""))
    return _joined(text, segments, forms)


def _segment(text: str, languages: Languages) -> Word:
    """`invoice_utils.py`, `BENCH-100821`, `v1.2.10`, `Node.js`, `O'Brien`: names, joined and apart."""
    bare = _VERSION.sub("", text)
    numbers = [number for match in _NUMBER.finditer(bare) for number in (match[0], match[1])]
    if not numbers and _SYMBOLIC.fullmatch(bare):
        return _name(bare, languages)
    names = [_name(name, languages) for name in _NAMES.split(bare) if name.strip("_+#")]
    if len(names) < 2:
        return names[0] if names else Word(text, ())
    together = stems(_NAMES.sub("", bare), languages) if not numbers and _written_together(names) else ()
    return _joined(text, names, (_whole(bare), *together), (*numbers, _whole(text)))


def _written_together(names: list[Word]) -> bool:
    """`e-mail`, `Node.js`, `U.S.A`, but not `a.py` or `invoice_utils.py`."""
    lengths = [len(name.text) for name in names]
    return all(len(name.leaves) == 1 for name in names) and (lengths[0] > 1 or max(lengths) == 1)


def _name(text: str, languages: Languages) -> Word:
    """`C++` is not the letter C; but `.net` is also found by `net`, and `C++17` by `C++`."""
    symbolic = _SYMBOLIC.fullmatch(text)
    if not symbolic or not (symbolic["dot"] or symbolic["sign"]):
        return _identifier(text.strip("+#"), languages)
    letters = symbolic["letters"]
    hints = stems(letters, languages) if len(letters) > 1 else ()
    if symbolic["number"]:
        hints = (fold(letters + symbolic["sign"]), *hints)
    return Word(text, (_whole(text),), hints=hints)


def _identifier(text: str, languages: Languages) -> Word:
    """`invoice_utils`, `getUserById`, `MAX_RETRIES`: parts, and the whole with and without underscores."""
    if _opaque(text):
        return _hash(text)
    parts = [part for part in _PARTS.split(text) if part]
    if len(parts) == 1 or _CAPITALS.fullmatch(text):
        return _part(text.strip("_"), languages)
    joined = stems(text.replace("_", ""), languages)
    return _joined(text, [_part(part, languages) for part in parts], (_whole(text), *joined))


def _opaque(text: str) -> bool:
    return (
        len(_CHANGES.findall(text)) > _MOST_CHANGES
        or len(_PARTS.findall(text)) >= _MOST_PARTS
        or _COMMIT.fullmatch(text) is not None
    )


def _hash(text: str) -> Word:
    """A hash is one leaf; a commit's is also found by, and finds, the seven characters people quote."""
    leaf = _whole(text)
    return Word(text, (leaf,), (leaf[:_QUOTED],) if _COMMIT.fullmatch(leaf) else ())


def _part(text: str, languages: Languages) -> Word:
    """`user`, `python3`, `10ms`: a leaf, and its letters and digits apart where those say something."""
    word = _plain(text, languages)
    pieces = _CHANGES.split(text)
    if len(pieces) == 1:
        return word
    hints = tuple(stem for piece in pieces if len(piece) > 1 for stem in stems(piece, languages))
    return Word(text, word.leaves, word.forms, hints, word.grammar)


def _joined(text: str, inner: list[Word], forms: Iterable[str], hints: Iterable[str] = ()) -> Word:
    """One word of several. Numbers alone don't make it up: `1.2.10` isn't any text with a 1, a 2 and a 10."""
    leaves = tuple(leaf for word in inner for leaf in word.leaves)
    hints = (*hints, *(lexeme for word in inner for lexeme in word.forms + word.hints))
    forms = tuple(dict.fromkeys(form[:LONGEST_LEXEME] for form in forms))
    grammar = frozenset().union(*(word.grammar for word in inner))
    if forms and all(leaf.replace(".", "").isdigit() for leaf in leaves):
        return Word(text, forms[:1], forms[1:], (*hints, *leaves), grammar)
    return Word(text, leaves, forms, hints, grammar)


def _whole(text: str) -> str:
    return fold(text).replace("\\", "/").replace("'", "")[:LONGEST_LEXEME]
