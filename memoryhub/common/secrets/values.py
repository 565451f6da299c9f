"""Values: which of them look like a secret, once something near them says that they might be one."""

import math
import re
from collections import Counter
from functools import lru_cache
from operator import ne, sub

import re2

from memoryhub.common.secrets.names import Holds, holds

MARK = "[REDACTED:"

PLACEHOLDER = re2.compile(
    r"(?i)(?:^|[^a-z])(?:your|my|insert|enter|replace|change|some|put|add)[-_ ](?:own|me|this|it|here|with|the|api|app|"
    r"auth|secret|client|token|key|pass|password|bot|access|new|real|strong|super)|(?:^|[^a-z])your[a-z]*(?:key|token|secret|password)|"
    r"example|placeholder|change(?:me|it)|redacted|(?:^|[^a-z0-9])(?:dummy|sample|todo|fixme|tbd|undefined)(?:[^a-z0-9]|$)|"
    r"not[-_ ](?:set|a[-_ ]?real)|x{6}|(?:^|[-_])here$|^[^\pL\pN_]*$|\*{3}|\.{3}|…|•••|<[^>]*>|^x+$|"
    r"^(?:foo|bar|baz|qux|test|fake|mock|none|null|nil|true|false|yes|no|on|off|required|optional|hidden|"
    r"string|str|text|bytes|int|integer|bool|boolean|object|any|void|unset|empty|default|secret|password|passwd|token|key|"
    r"unknown|invalid|expired|missing|disabled|enabled|prompt|ask|masked|removed|n/?a|private|public|basic|bearer|digest|"
    r"oauth2?|jwt|apikey|same-origin|include|omit)[0-9]{0,2}$"
)
REFERENCE = re.compile(
    r"^(?:\$|%[A-Za-z_({]|\{\{|\{%|\{[A-Za-z_.]*\}|<|@[A-Za-z{(]|#\{|op://|vault:|env[:.(]|file:|ref\+|arn:aws|projects/|secretref|secret://|"
    r"ssm:|keyring:|/run/|/etc/|/var/|/home/|~/|\./|\.\./|[A-Za-z]:\\|!(?:Ref|Sub|GetAtt|vault)\b|!env|sm://|gsm:|awssm:)"
)
TECHNICAL = re.compile(
    r"(?i)^(?:base-?(?:16|32|36|58|62|64)(?:url)?(?:[-_]?encoded)?|(?:hmac-?)?sha-?[0-9]{1,3}(?:[-_/]?[0-9]{3})?(?:[-_]?hash(?:ed)?)?|md[45]|utf-?(?:8|16|32)|"
    r"oauth-?[12](?:\.[0-9])?|v[0-9]+(?:\.[0-9]+)*|[a-z]{1,8}-?v[0-9]+|aes-?[0-9]{3}[a-z0-9]*(?:-[a-z0-9]+)*|(?:rs|hs|es|ps)(?:256|384|512)|eddsa|"
    r"argon2(?:id|i|d)?|pbkdf2(?:[-_][a-z0-9]+)*|bcrypt|scrypt|ed(?:25519|448)|x(?:25519|509)|rsa-?[0-9]{3,4}|p-?(?:256|384|521)|"
    r"k8s|s3|ec2|http2?|ipv[46]|web3|i18n|l10n|n8n|fido2|saml2|oidc|rfc-?[0-9]{3,5}|iso-?[0-9]{3,5}|"
    r"[0-9]+(?:\.[0-9]+)?(?:px|em|rem|ms|s|m|h|d|kb|mb|gb|kib|mib|gib|k|%|x|min|mins|sec|secs|hours?|days?|bits?|bytes?|chars?|th|st|nd|rd)?|"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9:.+z-]+)?|[0-9]+(?:\.[0-9]+){1,4}(?:[-+][a-z0-9.]+)?|0x[0-9a-f]{1,8})$"
)
IDENTIFIER = re.compile(r"^[A-Za-z_$][A-Za-z0-9_]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][A-Za-z0-9_]*)*$")
CALLED = re.compile(
    r"^[A-Za-z_$&*!][\w.$:>?-]*(?:\(|\[|\{)|^[({\[]|^(?:lambda|function|new|await|async|not|self|this)\b"
)
SEPARATOR = re.compile(r"[-_./:+@ ]+|(?<=[a-z])(?=[A-Z])|(?<=[a-z])(?=[0-9]{1,4}$)")
WORDY = re.compile(r"^(?:[A-Za-z]?[a-z]{0,20}|[A-Z]{1,12}|[0-9]{1,4}|v[0-9]+)$")
VOWEL = re.compile(r"[aeiouyAEIOUY]")
HEX = re.compile(r"^[0-9a-fA-F]+$")
UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
URL = re.compile(r"^[a-z][a-z0-9+.-]{1,20}://", re.I)
OUR_ID = re.compile(r"^(?:mem|sum|jrn|rec|val|pln|run|key|spc|acc|act|usr|evt)_[0-9a-f]{32}$")
DIGEST = re.compile(r"^(?:sha(?:1|224|256|384|512)[-:=]|md5[-:=]|blake2[bs]?[-:]|h1:)", re.I)
SIGNED = re.compile(r"^[A-Za-z0-9_.-]+:[A-Za-z0-9]{5,7}:[A-Za-z0-9_-]{40,}$")

Place = str
# structured: a field of its own. quoted: between quotes. line: the rest of a line like those in .env files.
# bare: unquoted in code or a log. prose: in a sentence.


SEEN = 128
"""Characters at either end of a value that tell what it is."""


def is_secret(value: str, kind: Holds, place: Place) -> bool:
    return _is_secret(value if len(value) <= 2 * SEEN else value[:SEEN] + value[-SEEN:], kind, place)


@lru_cache(maxsize=4096)
def _is_secret(value: str, kind: Holds, place: Place) -> bool:
    if is_harmless(value, place):
        return False
    if kind is Holds.PHRASE:
        return len(value) >= 8 and (" " in value.strip() or is_password(value, place))
    if re.search(r"\s", value.strip()):
        return False
    if kind is Holds.PASSWORD:
        return is_password(value, place)
    if kind is Holds.CREDENTIALS:
        return len(value) >= 16 and is_random(value) and not HEX.match(value[:8] + "g")
    return is_token(value, kind, place)


def is_harmless(value: str, place: Place) -> bool:
    """Left as it is wherever it stands: nothing, a placeholder, a reference to where the secret is, code."""
    if len(value) < 4 or MARK in value or PLACEHOLDER.search(value) or REFERENCE.match(value):
        return True
    if OUR_ID.match(value) or SIGNED.match(value) or DIGEST.match(value) or TECHNICAL.match(value):
        return not (value.isdigit() and place in ("structured", "quoted", "line"))
    if place in ("bare", "prose", "line") and (CALLED.match(value) or (place != "line" and "(" in value)):
        return True
    if IDENTIFIER.match(value) and holds(value) is not None:
        return place in ("bare", "prose") or not is_random(value)
    return len(set(value)) <= 2


def is_password(value: str, place: Place) -> bool:
    if URL.match(value):
        return False
    if value.isdigit():
        return len(value) >= 6 and place != "prose" and place != "bare"
    if is_words(value):
        return _is_words_for_a_password(value, place)
    if place == "bare" and IDENTIFIER.match(value) and not _is_mixed(value):
        return len(value) >= 10 and is_random(value)
    if value.isalpha():
        return len(value) >= 8 and _changes_case(value) >= 3
    least = 6 if place in ("bare", "prose") else 5
    return len(value) >= least and _kinds(value) >= 2


def _is_words_for_a_password(value: str, place: Place) -> bool:
    """`river42stone` and `Maple+9721` are such, where nothing else can stand."""
    if place == "line" and value.isalpha():
        return len(value) >= 6 and value.islower()
    numbered = sum(c.isdigit() for c in value) >= 2 and any(c.isalpha() for c in value)
    return numbered and len(value) >= 6 and (place in ("structured", "quoted", "line") or not value.isalnum())


def is_token(value: str, kind: Holds, place: Place) -> bool:
    if URL.match(value) or (value.isdigit() and len(value) < 20):
        return False
    if UUID.match(value):
        return True
    least = {"structured": 10, "quoted": 10, "line": 10, "bare": 16, "prose": 16}[place]
    if kind is Holds.TOKEN:
        least = max(least, 12)
    if len(value) < least or (place == "bare" and IDENTIFIER.match(value) and "." in value):
        return False
    return is_random(value)


def is_random(value: str) -> bool:
    """Drawn by a machine rather than written by a person."""
    if PLACEHOLDER.search(value) or is_words(value):
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    if len(value) >= 8 and (_runs_on(value) or entropy(value) < min(2.6, 0.55 * math.log2(len(value)))):
        return False
    if letters and digits:
        return True
    if digits:
        return len(value) >= 20
    return len(value) >= 16 and _changes_case(value) >= 4


def is_words(value: str) -> bool:
    """Words of a language, or names made of such, perhaps numbered."""
    parts = [part for part in SEPARATOR.split(value) if part]
    if len(parts) > 3 and not value.islower() and sum(map(len, parts)) < 4 * len(parts):
        return False
    return all(WORDY.match(part) and (len(part) <= 4 or part.isdigit() or _is_spoken(part)) for part in parts)


def entropy(value: str) -> float:
    """Bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def _is_spoken(part: str) -> bool:
    vowels = len(VOWEL.findall(part))
    return 0.15 <= vowels / len(part) <= 0.8 and not re.search(r"(?i)[^aeiouy]{6}", part)


def _kinds(value: str) -> int:
    return sum(
        any(test(c) for c in value)
        for test in (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum() and c not in "-_. ")
    )


def _is_mixed(value: str) -> bool:
    """Digits inside it and not only behind it, as in the names of variables."""
    return bool(re.search(r"[0-9][A-Za-z]", value)) and sum(c.isdigit() for c in value) >= 2


def _changes_case(value: str) -> int:
    lower = list(map(str.islower, value))
    return sum(map(ne, lower, lower[1:]))


def _runs_on(value: str) -> bool:
    """Mostly one thing after the other, as in abcdef, 123456 and 000000."""
    places = list(map(ord, value))
    steps = list(map(sub, places[1:], places))
    return steps.count(0) + steps.count(1) > 0.6 * (len(value) - 1)
