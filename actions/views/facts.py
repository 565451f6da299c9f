"""What is worth knowing about a payload, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from actions.domain.facts import EVERYONE, HIDDEN, MIXED, OUTSIDE, Reach
from actions.domain.preview import Preview


@dataclass(frozen=True)
class Line:
    text: str
    tone: str
    icon: str


def lines(preview: Preview, reach: Reach, untrusted: Sequence[str] = ()) -> list[Line]:
    """What matters most comes first. `untrusted` are the memories among its sources that came from outside."""
    return [*_warnings(preview), *_reach(reach), *_sources(untrusted), *_plain(preview)]


def _sources(untrusted: Sequence[str]) -> Iterator[Line]:
    if untrusted:
        said = _("Rests on what came from outside, and nobody has reviewed: %(which)s")
        yield Line(said % {"which": ", ".join(untrusted)}, "warn", "alert")


def _warnings(preview: Preview) -> Iterator[Line]:
    for where, warning in preview.warnings:
        yield Line(f"{where}: {warning}", "bad", "alert")


def _reach(reach: Reach) -> Iterator[Line]:
    said = [
        (_("Outside your team: %(who)s"), reach.outside, "warn", "out"),
        (_("For the first time from this space: %(who)s"), reach.first_time, "warn", "person"),
        (_("Notifies everyone: %(who)s"), reach.everyone, "warn", "people"),
        (_("Inside your team: %(who)s"), reach.inside, "", "people"),
    ]
    for text, who, tone, icon in said:
        if who:
            yield Line(text % {"who": ", ".join(who)}, tone, icon)


def _plain(preview: Preview) -> Iterator[Line]:
    if preview.hosts:
        yield Line(_("Links lead to: %(hosts)s") % {"hosts": ", ".join(preview.hosts)}, "", "out")
    size = ngettext("%(n)s byte, all of it shown", "%(n)s bytes, all of them shown", preview.size)
    yield Line(size % {"n": preview.size}, "", "info")


def warning_words() -> dict[str, str]:
    return {
        HIDDEN: _("hidden characters"), MIXED: _("mixed alphabets"),
        OUTSIDE: _("outside"), EVERYONE: _("notifies everyone"),
    }  # fmt: skip
