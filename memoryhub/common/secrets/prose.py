"""Secrets told in a sentence: `the password for staging is …`, `use token … to log in`."""

import re
from collections.abc import Callable, Iterator

import re2

from memoryhub.common.secrets.names import Holds
from memoryhub.common.secrets.spans import Span
from memoryhub.common.secrets.values import HEX, is_secret

PASSWORDS = (
    r"password|passwd|passphrase|passcode|pwd|pw|passwort|kennwort|contraseña|mot de passe|senha|wachtwoord"
)
TOKENS = (
    r"(?:(?:use|using|with|the|my|our|this|new|your|as)(?: \w{1,20})?[ ])key|"
    r"(?:access|auth|api|bearer|refresh|session|bot|deploy|service|personal access|id|app|oauth|login|security)"
    r"[ _-]tokens?|tokens?|(?:api|access|secret access|secret|account|auth|signing|encryption|master|storage|"
    r"subscription|service|application|app|admin|license|licence|shared|private|webhook|integration|write|root|deploy)"
    r"[ _-]keys?|apikeys?|(?:client|app|shared|signing|webhook|api|consumer)[ _-]secrets?|"
    r"(?:recovery|backup)[ _-]codes?|secrets?|credentials?"
)
PHRASE = re2.compile(rf"(?i)(?:^|[^A-Za-z0-9_.:-])(?:(?P<password>{PASSWORDS})|(?:{TOKENS}))s?\b")
OPEN = r"(?P<open>[\"'`“‘(\[*_]{0,3})"
SAID = re.compile(
    r"(?i)(?P<about>(?:[ \t]+[\w.@/'’&#-]{1,40}){0,7}?[ \t]*(?:\([^)\n]{1,40}\))?)"
    r"(?:[ \t]*(?:=>|=|:|→|->|—|–|：)[ \t]*|[ \t]+(?:is|was|are|to|as|be|became|called|reads|ist|es|est|é|lautet)"
    r"(?:[ \t]+(?:now|set to|still|currently|just|simply|changed to|called|again|temporarily))?[ \t]*:?[ \t]+)"
    + OPEN
)
BESIDE = re.compile(r"[ \t]+" + OPEN)
VALUE = re.compile(r"[^\s\"'`“”‘’<>]{6,400}")
TRAILING = ".,;:!?)]}*_"
LOGIN = re.compile(
    r"[^\n]{0,30}?[ :=(\"'`][A-Za-z][\w.@+-]{1,60}[ \t]{0,2}[:/|][ \t]{0,2}(?P<secret>[^\s\"'`<>/|,)]{6,100})"
)
OTHER_TOKENS = re.compile(
    r"(?i)(?:page|next|cursor|continuation|csrf|xsrf|sync|idempotency|public|primary|cache)[ -]*$"
)
ABOUT_HASHES = re.compile(
    r"(?i)\b(?:commit|sha-?\d*|digest|hash|revision|uuid|checksum|fingerprint|id|md5|bucket|count|type|page|limit|length)\b"
)
LOGINS = re2.compile(r"(?i)\b(?:login|log in|credentials?|creds|sign in|account)\b")


def find_told(text: str, raw: bytes, at: Callable[[int], int]) -> Iterator[Span]:
    """`raw` is the text in UTF-8; `at` turns a place in it into one in the text."""
    for match in PHRASE.finditer(raw):
        start, end = at(match.start()), at(match.end())
        kind = Holds.PASSWORD if match.span(1)[0] >= 0 else Holds.TOKEN
        if kind is Holds.TOKEN and OTHER_TOKENS.search(text[max(0, start - 20) : start + 1]):
            continue
        if (said := SAID.match(text, end)) and (found := _told(text, said.end(), kind, said["about"], True)):
            yield found
        if (beside := BESIDE.match(text, end)) and (
            found := _told(text, beside.end(), kind, "", bool(beside["open"]))
        ):
            yield found
    for match in LOGINS.finditer(raw):
        login = LOGIN.match(text, at(match.end()))
        told = _trimmed(login["secret"]) if login else ""
        if login and _is_strong(told) and is_secret(told, Holds.PASSWORD, "prose"):
            yield Span(login.start("secret"), login.start("secret") + len(told), Holds.PASSWORD.value)


def _told(text: str, at: int, kind: Holds, about: str, signed: bool) -> Span | None:
    value = VALUE.match(text, at)
    told = _trimmed(value[0]) if value else ""
    return Span(at, at + len(told), kind.value) if told and _is_told(told, kind, about, signed) else None


def _trimmed(value: str) -> str:
    """Without what ends the sentence; a mark that may belong to a password stays with it."""
    value = re.split(r"[,;](?=$)|\\n|&amp;|&(?=\w+=)", value)[0]
    while value and value[-1] in TRAILING:
        if value[-1] in "!?*_" and len(value) < 14 and value[-2:-1] not in TRAILING:
            break
        value = value[:-1]
    return value


def _is_told(value: str, kind: Holds, about: str, signed: bool) -> bool:
    if kind is Holds.TOKEN and ABOUT_HASHES.search(about):
        return False
    if kind is Holds.PASSWORD and not signed and not _is_strong(value):
        return False
    if (
        kind is Holds.TOKEN
        and not signed
        and not (HEX.match(value) and len(value) >= 32)
        and not _is_strong(value)
    ):
        return False
    return is_secret(value, kind, "prose")


def _is_strong(value: str) -> bool:
    """Letters in both cases and digits, or letters, digits and a mark."""
    kinds = sum(any(test(c) for c in value) for test in (str.islower, str.isupper, str.isdigit))
    marks = any(not c.isalnum() and c not in "-_./:" for c in value)
    return any(c.isdigit() for c in value) and kinds + marks >= 3
