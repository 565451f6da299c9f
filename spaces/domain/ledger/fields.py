"""The forms of amounts, currencies and the other things that a ledger's row says."""

import re
from decimal import Decimal, InvalidOperation

from memoryhub.common.errors import ValidationFailed
from memoryhub.common.text import check_text
from spaces.domain.memories.fields import PATH

DIGITS, PLACES = 18, 4
PLAIN = re.compile(r"\+?[0-9]{1,20}(?:\.[0-9]{1,20})?")
_CURRENCIES = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
    CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR
    ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT
    MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES
    VND VUV WST XAF XAU XAG XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
CURRENCIES = frozenset(_CURRENCIES.split())


def as_amount(text: str) -> Decimal:
    """More than nothing, with at most 14 digits before the point and 4 after it. Nothing is rounded."""
    try:
        amount = Decimal(text.strip()) if PLAIN.fullmatch(text.strip()) else None
    except InvalidOperation:
        amount = None
    if amount is None:
        raise _refused("amount", "Must be a decimal number like 12.50, without signs or separators.")
    plain = amount.normalize()
    _, digits, exponent = plain.as_tuple()
    assert isinstance(exponent, int)
    if -exponent > PLACES or len(digits) + exponent > DIGITS - PLACES:
        raise _refused(
            "amount", f"Must have at most {DIGITS - PLACES} digits before the point and {PLACES} after it."
        )
    if amount <= 0:
        raise _refused("amount", "Must be more than 0. What kind of movement it is, the type says.")
    return plain + Decimal(0)


def amount_text(amount: Decimal) -> str:
    """Two places at least, as people write it, and no more than say something."""
    cents = amount.quantize(Decimal("0.01"))
    return f"{cents if cents == amount else amount.normalize():f}"


def as_currency(text: str) -> str:
    code = text.strip().upper()
    if code not in CURRENCIES:
        raise _refused("currency", "Must be an ISO 4217 code like USD, EUR or JPY.")
    return code


def as_path(text: str) -> str:
    """As memories have it; here the roots for money are not reserved."""
    path = text.strip()
    if path and (len(path) > 255 or not PATH.fullmatch(path) or {".", ".."} & set(path.split("/"))):
        raise _refused("path", "Must be names of letters, digits, `.`, `_` and `-`, joined by `/`.")
    if f"{path.lower()}/".startswith("system/"):
        raise _refused("path", "Must not begin with `system/`: it is reserved.")
    return path


def as_text(name: str, text: str, limit: int, *, required: bool = False) -> str:
    check_text(text, name)
    trimmed = text.strip()
    if required and not trimmed:
        raise _refused(name, "Must say something.")
    if len(trimmed) > limit:
        raise _refused(name, f"Must have at most {limit} characters. Shorten it.")
    return trimmed


def _refused(name: str, message: str) -> ValidationFailed:
    return ValidationFailed({name: [message]})
