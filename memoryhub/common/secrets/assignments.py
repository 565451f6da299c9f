"""A name and a value: `password=…`, `"api_key": "…"`, `export TOKEN=…`, `<secret>…</secret>`, in any notation.

The head (name and sign) is found by RE2; the value is read behind it in the way the sign and the quotes ask for.
"""

import re
from collections.abc import Callable, Iterator

import re2

from memoryhub.common.secrets.names import Holds, holds
from memoryhub.common.secrets.spans import Span
from memoryhub.common.secrets.values import is_secret

STEMS = (
    r"pass|pwd|secret|token|api[_. -]?key|apikey|(?:access|account|auth|private|signing|encryption|master|shared|"
    r"storage|subscription|service|admin|app|application|write|session|consumer|server|license|licence|deploy|hmac|"
    r"aes|jwt|ssh|gpg|pgp|fernet|integration|routing|insert|ingestion|crypto|decryption|role|root|preshared)[_. -]?key|"
    r"key[_-]?base|credential|creds|auth|bearer|jwt|\bpat|[_-]pat|psk|sess(?:ion)?[_-]?id|\bsid|[_-]sid|cookie|"
    r"mnemonic|phrase|seed|recovery|backup[_-]?code|pepper|kek|webhook|dsn|contrase|motdepasse|senha|parola|"
    r"wachtwoord|has[lł]o|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호|kennwort"
)
STEM = re2.compile(f"(?i:{STEMS})")
BEFORE = re.compile(r"[A-Za-z0-9_$@.\[\]-]{0,60}$")
AFTER = re.compile(r"[A-Za-z0-9_.\]-]{0,40}")
SIGN = re.compile(
    r"(?P<close>(?:\\{0,4}[\"'`]|\]|\)|\*\*|__|\}|&quot;){0,3}[ \t]{0,20})"
    r"(?P<sign>=>|:=|===?|!==?|\?=|\+=|<-|->|→|>|＝|：|[=:,|(]|is\b|は|是|为|(?<=[ \t]))"
)
VALUE_OF_PAIR = re.compile(
    r"\\{0,4}[\"']?\s{0,4}(?:,[^{}\n]{0,60}?)?\s{0,20}(?:-\s)?\\{0,4}[\"']?(?:[vV]alue|val|VALUE|content|default)\\{0,4}[\"']?\s{0,4}[:=]\s{0,4}"
)
NAME_OF_PAIR = re.compile(
    r"(?i)(?:name|key|header|field|variable|var)\\{0,4}[\"']?\s{0,4}[:=]\s{0,4}\\{0,4}[\"']?$"
)
TYPED = re.compile(
    r"[ \t]*(?:[A-Za-z_][\w.]*(?:\[[^\]=\n]{0,40}\])?(?:[ \t]*\|[ \t]*[A-Za-z_][\w.]*)*\??)[ \t]*=[ \t]*"
    r"(?=[brfu]?[\"'`])"
)
OPENED = re.compile(r"[ \t]*(?:[brfuBRFU]{1,2})?(\\*(?:\"\"\"|'''|[\"'`“”‘’«「『]|&quot;))")
CLOSING = {"“": "”", "‘": "’", "«": "»", "「": "」", "『": "』"}
BLOCK = re.compile(r"[ \t]*[|>][+-]?[0-9]?[ \t]*\n([ \t]+)")
LINE_START = re.compile(
    r"(?:^|\n)[ \t]*(?:[-*>+][ \t]+)?(?:(?:export|set|setx|env|ENV|ARG|-e)[ \t]+|\$env:)?[\"']?$"
)
NEXT_PAIR = re.compile(
    r"[,;&|][ \t]*[A-Za-z_][\w.-]{0,40}[\"']?[ \t]*[=:]|[;,]$|[;,](?=\s)|&(?:amp;)?[A-Za-z_][\w.-]{0,40}="
)
BARE_END = re.compile(r"[\s\"'`<>]|\\[nrt\"]|&quot;|$")
BARE = re.compile(r"(?:[^\s\"'`<>\\&]++|\\(?![nrt\"])|&(?!quot;))*+")
BARE_IN_QUERY = re.compile(r"(?:[^\s\"'`<>\\&#]++|\\(?![nrt\"]))*+")
LONGEST = 4096
TOO_LONG = 2 * LONGEST
LINE = 1024


def find_assignments(text: str, raw: bytes, at: Callable[[int], int]) -> Iterator[Span]:
    """`raw` is the text in UTF-8; `at` turns a place in it into one in the text."""
    read_to = found_to = 0
    for match in STEM.finditer(raw):
        start, end = (at(place) for place in match.span())
        if end <= read_to:
            continue
        start -= len(BEFORE.search(text[max(0, start - 60) : start])[0])  # type: ignore[index]
        end = read_to = AFTER.match(text, end).end()  # type: ignore[union-attr]
        name = text[start:end]
        kind = _kind(name)
        if kind is None:
            continue
        found = _assigned(text, start, end, name, kind, found_to) or _paired(text, start, end, name, kind)
        if found:
            found_to = max(found_to, found.end)
            yield found


def _assigned(text: str, start: int, end: int, name: str, kind: Holds, found_to: int) -> Span | None:
    head = SIGN.match(text, end)
    if head is None or (head["sign"] == ":" and text[start - 1 : start] == ":"):
        return None  # a colon on both sides: a part of a longer name, as in arn:aws:…:secret:…
    if head.end() < found_to and BARE_END.match(text, found_to) and not OPENED.match(text, head.end()):
        return None  # inside of what is found to be one already
    return _value(text, head.end(), start, head["sign"], bool(head["close"].strip()), name, kind)


def _paired(text: str, start: int, end: int, name: str, kind: Holds) -> Span | None:
    """`name: DB_PASSWORD, value: …`"""
    if not NAME_OF_PAIR.search(text[max(0, start - 30) : start]):
        return None
    value = VALUE_OF_PAIR.match(text, end)
    return _value(text, value.end(), start, ":", True, name, kind) if value else None


def _kind(name: str) -> Holds | None:
    return holds(name.rsplit(".", 1)[-1].strip("[]$@-") or name)


def _value(
    text: str, at: int, begun: int, sign: str, quoted_name: bool, name: str, kind: Holds
) -> Span | None:
    """The span of the value that begins at or after `at`, if it is a secret."""
    if sign == "" and not _is_flag(text, begun, name):
        return None
    if sign in (",", "|", ">", "(") and not _goes_on(text, at, begun, sign, quoted_name):
        return None
    if sign in (":", "：") and (typed := TYPED.match(text, at)):
        at = typed.end()
    if (block := BLOCK.match(text, at)) and sign in (":", "="):
        return _judged(text, block.end(), _line_end(text, block.end()), kind, "line")
    if opened := OPENED.match(text, at):
        return _quoted(text, opened, kind)
    return _bare(text, at, begun, sign, kind)


def _is_flag(text: str, begun: int, name: str) -> bool:
    """`--password x`, and `ENV DB_PASSWORD x` of a container's recipe."""
    line = text[_line_start(text, begun) : begun]
    return name.startswith(("--", "_auth")) or (name.isupper() and line.strip() in ("ENV", "ARG", "setx"))


def _line_start(text: str, begun: int) -> int:
    """Where the line begins, or so far before: a line without end is looked at in pieces."""
    least = max(0, begun - LINE)
    return max(text.rfind("\n", least, begun) + 1, least)


def _goes_on(text: str, at: int, begun: int, sign: str, quoted_name: bool) -> bool:
    """A comma between two strings, a cell of a table, the text of an element."""
    if sign == "(":
        return OPENED.match(text, at) is not None
    if sign == ",":
        return quoted_name and OPENED.match(text, at) is not None
    if sign == "|":
        return "|" in text[_line_start(text, begun) : begun] or "|" in text[at : at + 200].partition("\n")[0]
    return text[begun - 1 : begun] == "<" or "</" in text[at : at + LONGEST].partition("\n")[0]


def _quoted(text: str, opened: re.Match[str], kind: Holds) -> Span | None:
    quote = opened[1]
    begin = opened.end()
    closing = CLOSING.get(quote, quote)
    end = _closing(text, begin, closing)
    return _judged(text, begin, end, kind, "quoted")


def _closing(text: str, begin: int, quote: str) -> int:
    """Past quotes that are escaped; the end of the line where it is never closed."""
    at = begin
    while True:
        found = text.find(quote, at, begin + TOO_LONG)
        if found < 0:
            return _line_end(text, begin)
        if len(quote) > 1 or text[found - 1] != "\\" or text[max(begin, found - 2) : found] == "\\\\":
            return found
        at = found + 1


def _bare(text: str, at: int, begun: int, sign: str, kind: Holds) -> Span | None:
    while at < len(text) and text[at] in " \t":
        at += 1
    in_query = text[begun - 1 : begun] in ("?", "&", "#") or text[max(0, begun - 5) : begun] == "&amp;"
    whole_line = (
        LINE_START.search(text[max(0, begun - 40) : begun]) is not None
        and sign in ("=", ":")
        and not in_query
    )
    if kind is Holds.PHRASE and whole_line:
        return _judged(text, at, _line_end(text, at), kind, "line")
    end = _bare_end(text, at, in_query)
    if sign == "|" and (cell := text.find("|", at, end)) > at:
        end = cell
    place = "quoted" if sign in (">", "|") or in_query else "line" if whole_line and sign == "=" else "bare"
    return _judged(text, at, end, kind, place)


def _bare_end(text: str, at: int, in_query: bool) -> int:
    end = (BARE_IN_QUERY if in_query else BARE).match(text, at, at + LONGEST).end()  # type: ignore[union-attr]
    value = text[at:end]
    if in_query and text[end : end + 1] in ("&", "#"):
        return end
    if any(mark in value for mark in ",;&|") and (pair := NEXT_PAIR.search(value)):
        end = at + pair.start()
    while end > at and text[end - 1] in ",;)]}.!?:" and not text[at:end].isalnum():
        if text[end - 1] in ".!?" and end < len(text) and not text[end].isspace() and text[end] not in "\"'<":
            break
        if text[end - 1] in "!?" and end - at < 14:
            break
        end -= 1
    return end


def _line_end(text: str, at: int) -> int:
    """Or so far behind that what is between is no secret any more."""
    end = text.find("\n", at, at + TOO_LONG)
    return end if end >= 0 else min(len(text), at + TOO_LONG)


def _judged(text: str, begin: int, end: int, kind: Holds, place: str) -> Span | None:
    value = text[begin:end]
    stripped = value.strip()
    if not stripped or len(stripped) > LONGEST:
        return None
    if not is_secret(stripped, kind, place):
        return None
    begin += len(value) - len(value.lstrip())
    return Span(begin, begin + len(stripped), kind.value if kind is not Holds.SECRET else "secret")
