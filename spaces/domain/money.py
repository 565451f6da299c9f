"""Telling a statement about a payment from other prose: an amount of money beside a word of trade."""

import json
import re
from typing import Any

CODES = "USD|EUR|GBP|JPY|CNY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|KRW|BRL|MXN|SGD|HKD|TWD|THB|TRY|ZAR|ILS|RUB"
NUMBER = r"\d[\d.,']*"
AMOUNT = re.compile(
    rf"[$€£¥₹₩₽]\s?{NUMBER}|{NUMBER}\s?(?:[€£¥₹₩₽円元]|(?:{CODES})\b)|\b(?:{CODES})\s?{NUMBER}", re.I
)
TRADE = re.compile(
    r"\b(?:paid|pay(?:ment)?s?|bought|purchased?|spent|spend|costs?|invoiced?|receipts?|refund(?:ed)?|salary|expenses?|income"
    r"|transferred|charged|reimburse[ds]?|bezahlt|gekauft|rechnung|quittung|ausgegeben|überwiesen|payé|acheté|facture"
    r"|pagado|comprado|factura)\b|支払|払[っいう]|購入|買[っい]|領収|請求|返金|給料|经费|支付|购买|买了|花了|付了|发票|退款|工资",
    re.I,
)


def looks_financial(text: str) -> bool:
    return bool(AMOUNT.search(text) and TRADE.search(text)) or _is_transaction(text)


def _is_transaction(text: str) -> bool:
    """A JSON object with an amount and its currency."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"amount", "currency"} <= {str(name).lower() for name in value}
