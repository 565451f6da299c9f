"""Links in a text, with where each really leads."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from memoryhub.common.odd import is_mixed

URL = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,30}://|(?:mailto|javascript|data|vbscript|file|tel|sms):)[^\s<>\"`]+", re.I
)
TRAILING = ".,;:!?'*_"
BRACKETS = {")": "(", "]": "[", "}": "{"}
OPENABLE = ("http", "https", "mailto")


@dataclass(frozen=True)
class Link:
    """`host` is where it leads, in the letters that are on the wire; `shown_host` as written, where that differs.

    Only an `openable` link may be made one that a person can follow.
    """

    url: str
    scheme: str
    host: str
    shown_host: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def openable(self) -> bool:
        return self.scheme in OPENABLE and not self.warnings


def find_links(text: str) -> tuple[Link, ...]:
    """Every link in the order of the text, each once."""
    return tuple(dict.fromkeys(_link(_trimmed(match[0])) for match in URL.finditer(text)))


def _trimmed(url: str) -> str:
    """Without the punctuation of the sentence around it."""
    while url and (url[-1] in TRAILING or url.count(url[-1]) > url.count(BRACKETS.get(url[-1], url[-1]))):
        url = url[:-1]
    return url


def _link(url: str) -> Link:
    scheme = url.partition(":")[0].lower()
    written = _host(url, scheme)
    wire = _on_the_wire(written)
    return Link(
        url=url,
        scheme=scheme,
        host=wire or written,
        shown_host=written if wire and wire != written else "",
        warnings=tuple(_warnings(url, scheme, written, wire)),
    )


def _host(url: str, scheme: str) -> str:
    if scheme == "mailto":
        return url.partition(":")[2].partition("?")[0].rpartition("@")[2].lower()
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _on_the_wire(host: str) -> str:
    try:
        return host.encode("idna").decode() if host else ""
    except UnicodeError:
        return ""


def _warnings(url: str, scheme: str, written: str, wire: str) -> list[str]:
    found = []
    if scheme not in OPENABLE:
        found.append(f"A {scheme}: link is not a web address.")
    elif not wire:
        found.append("It is not clear where this link leads.")
    if wire and scheme != "mailto" and "@" in urlsplit(url).netloc:
        found.append(f"What stands before the @ is not where it leads; that is {wire}.")
    if is_mixed(written):
        found.append("Its host mixes letters of different scripts.")
    return found
