"""The facts about a payload, in words."""

from dataclasses import dataclass

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from actions.domain.facts import Fact, Matter, Moment

LOOKS = {
    Matter.HIDDEN: ("bad", "alert"), Matter.MIXED: ("bad", "alert"), Matter.OUTSIDE: ("warn", "out"),
    Matter.FIRST_TIME: ("warn", "info"), Matter.BROADCAST: ("warn", "people"), Matter.INSIDE: ("", "people"),
    Matter.LINKS: ("", "out"), Matter.TIMES: ("", "clock"), Matter.SIZE: ("", "info"),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    text: str
    tone: str
    icon: str


def lines(facts: list[Fact]) -> list[Line]:
    return [Line(text, *LOOKS[fact.matter]) for fact in facts for text in _texts(fact)]


def _texts(fact: Fact) -> list[str]:
    if fact.matter is Matter.TIMES:
        return [_time(moment) for moment in fact.times]
    if fact.matter is Matter.HIDDEN:
        hidden = ngettext(
            "%(n)s hidden character, named where it stands",
            "%(n)s hidden characters, named where they stand",
            fact.count,
        )
        return [hidden % {"n": fact.count}]
    if fact.matter is Matter.SIZE:
        return [
            ngettext("%(n)s byte, all of it shown", "%(n)s bytes, all of them shown", fact.count)
            % {"n": fact.count}
        ]
    return [_sentences()[fact.matter] % {"items": ", ".join(fact.items)}]


def _sentences() -> dict[Matter, str]:
    return {
        Matter.MIXED: _("Letters of several alphabets in one word: %(items)s"),
        Matter.OUTSIDE: _("Outside your team: %(items)s"),
        Matter.INSIDE: _("Inside your team: %(items)s"),
        Matter.FIRST_TIME: _("For the first time from this space: %(items)s"),
        Matter.BROADCAST: _("Notifies everyone: %(items)s"),
        Matter.LINKS: _("Links to: %(items)s"),
    }


def _time(moment: Moment) -> str:
    local = formats.date_format(moment.local, "D j M Y, H:i")
    offset = moment.local.strftime("%z")
    place = f"{local} {moment.local.tzname()} (UTC{offset[:3]}:{offset[3:]})"
    if moment.assumed:
        return _("%(given)s names no zone: in this space it would be %(place)s") % {
            "given": moment.given,
            "place": place,
        }
    return _("%(given)s is %(place)s in this space") % {"given": moment.given, "place": place}


def warning_words() -> dict[Matter, str]:
    return {
        Matter.HIDDEN: _("hidden characters"), Matter.MIXED: _("mixed alphabets"),
        Matter.OUTSIDE: _("outside"), Matter.BROADCAST: _("notifies everyone"),
    }  # fmt: skip
