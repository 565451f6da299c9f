"""What an action would do, in one line: made by us from its class and payload, never from the agent's words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from memoryhub.web.tags import visible

SHOWN = 3
SHORT = 60

# What tells most about an action, where a payload has it, is said first.
TELLING = (
    "to", "recipient", "recipients", "channel", "repo", "repository", "service", "title", "subject", "name", "version",
    "amount", "currency", "order", "environment", "start", "end", "text", "message", "body",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    name: str
    value: str


@dataclass(frozen=True)
class Headline:
    """`more` counts what the payload has besides; whole, it stands on the action's page."""

    class_name: str
    parts: tuple[Part, ...]
    more: int

    @property
    def marked(self) -> SafeString:
        """The same with its names set apart, and what hides shown by name."""
        told = ((visible(part.name), visible(part.value)) for part in self.parts)
        parts = format_html_join("", ' <span class="part-name">{}</span> {}', told)
        return format_html(
            '<span class="headline"><span class="class-name">{}</span>{}{}</span>',
            self.class_name,
            parts,
            self._more(),
        )

    def _more(self) -> SafeString | str:
        if not self.more:
            return ""
        said = ngettext("and %(n)s more", "and %(n)s more", self.more) % {"n": self.more}
        return format_html(' <span class="part-name">{}</span>', said)

    def __str__(self) -> str:
        return " ".join([self.class_name, *(f"{part.name} {part.value}" for part in self.parts)])


def headline(class_name: str, payload: dict[str, Any]) -> Headline:
    parts = tuple(_parts(payload))[:SHOWN]
    return Headline(class_name, parts, len(payload) - len(parts))


def telling(name: str) -> tuple[int, str]:
    """A sorting key for the members of a payload: by its first name, `to[0]` as `to`."""
    first = name.partition(".")[0].partition("[")[0]
    return (TELLING.index(first) if first in TELLING else len(TELLING), "")


def _parts(payload: dict[str, Any]) -> Iterator[Part]:
    for name in sorted(payload, key=telling):
        if (value := _short(payload[name])) is not None:
            yield Part(name, value)


def _short(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        line = " ".join(value.split())
        return line if len(line) <= SHORT else line[: SHORT - 1] + "…"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return _short(", ".join(value))
    return None
