"""Questions that ask for a time, and texts that tell one, in the languages that teams are likely to write."""

import re

import re2

_ASKS = re.compile(
    r"\b(?:when|since when|how long ago|(?:what|which)(?: exact)? (?:date|day|month|year|week|weekend|time|season)"
    r"|wann|seit wann|quand|depuis quand|cu[aá]ndo|quando|wanneer|kiedy|когда|ne zaman|hvornår|när)\b"
    r"|いつ|何時|何日|何月|何年|何曜|什么时候|什麼時候|何时|何時|几点|几号|哪天|哪年|哪一天|언제|며칠|몇 시|몇 월",
    re.IGNORECASE,
)


def _words(text: str) -> list[str]:
    return text.split()


_MONTHS = _words("""
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar februar märz juni juli oktober dezember janvier février avril juin juillet août octobre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
""")
_DAYS = _words("""
    monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    montag dienstag mittwoch donnerstag freitag samstag sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo
""")
_NEAR = _words("""
    yesterday today tomorrow tonight ago recently lately weekend weekends nowadays
    gestern heute morgen aujourd'hui hier demain ayer hoy mañana
""")
_UNITS = _words("night evening morning day week month year spring summer autumn fall winter semester quarter")
_UNIT = "|".join(_UNITS)
_ANY_CASE = re2.Options()
_ANY_CASE.case_sensitive = False
# Every candidate of a search that asks for a time is looked through, which RE2 does in a third of the time.
_TELLS = re2.compile(
    rf"\b(?:{'|'.join([*_MONTHS, *_DAYS, *_NEAR])})\b|вчера|сегодня|завтра"
    rf"|\b(?:last|next|this|past|previous|coming|few|couple of) (?:{_UNIT})s?\b"
    rf"|\b\d+ (?:{_UNIT})s?\b|\bmay \d|\d may\b"
    r"|\b(?:1[89]|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2} ?[ap]m\b"
    r"|昨日|今日|明日|先日|先週|来週|今週|先月|来月|今月|去年|昨年|来年|今年|週末|\d\s*[年月日時]|[月火水木金土日]曜"
    r"|昨天|今天|明天|上周|下周|本周|上个月|下个月|周[一二三四五六日末]|星期"
    r"|어제|오늘|내일|지난|다음 [주달해]|[월화수목금토일]요일",
    _ANY_CASE,
)


def asks_for_time(question: str) -> bool:
    return _ASKS.search(question) is not None


def tells_time(text: str) -> bool:
    return _TELLS.search(text) is not None
