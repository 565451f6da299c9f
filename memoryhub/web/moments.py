"""Times as people say them."""

from datetime import date, datetime, timedelta

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def spoken(moment: datetime, now: datetime | None = None) -> str:
    """Short and relative within a week, a date beyond it. What is to come is rounded, so that what was given three
    days has three of them a moment later; of what is past, only whole lengths count."""
    now = now or timezone.now()
    distance = abs(moment - now)
    if distance >= 7 * _DAY:
        return calendar_day(timezone.localdate(moment), timezone.localdate(now))
    if distance < _MINUTE:
        return _("now") if moment >= now else _("just now")
    if moment > now:
        return _("in %(length)s") % {"length": _length(_rounded(distance))}
    return _("%(length)s ago") % {"length": _length(distance)}


def _rounded(distance: timedelta) -> timedelta:
    """To whole minutes, hours or days, whichever it is told in."""
    for unit, next_unit in ((_MINUTE, _HOUR), (_HOUR, _DAY)):
        whole = (distance + unit / 2) // unit * unit
        if whole < next_unit:
            return whole
    return (distance + _DAY / 2) // _DAY * _DAY


def _length(distance: timedelta) -> str:
    if distance < _HOUR:
        return _count(ngettext("%(n)s min", "%(n)s min", distance // _MINUTE), distance // _MINUTE)
    if distance < _DAY:
        return _count(ngettext("%(n)s h", "%(n)s h", distance // _HOUR), distance // _HOUR)
    return _count(ngettext("%(n)s day", "%(n)s days", distance // _DAY), distance // _DAY)


def _count(phrase: str, number: int) -> str:
    return phrase % {"n": number}


def exact(moment: datetime) -> str:
    """In the viewer's zone, to the second, with the zone's name and offset."""
    local = timezone.localtime(moment)
    offset = local.strftime("%z")
    return f"{formats.date_format(local, 'D j M Y, H:i:s')} {local.tzname()} (UTC{offset[:3]}:{offset[3:]})"


def calendar_day(day: date, today: date) -> str:
    return formats.date_format(day, "j M" if day.year == today.year else "j M Y")


def due_day(day: date, today: date) -> str:
    """A calendar day as a distance from today, where it is near."""
    near = {-1: _("yesterday"), 0: _("today"), 1: _("tomorrow")}
    return near.get((day - today).days) or calendar_day(day, today)
