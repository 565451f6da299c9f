"""Template filters and tags. Whatever came from outside goes through `visible`, `tree`, `marked` or `changes`."""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.http import QueryDict
from django.template import Context
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from memoryhub.common import odd
from memoryhub.common.odd import Piece, pieces
from memoryhub.web import documents, moments
from memoryhub.web.diffs import word_changes

register = template.Library()

_DRAWING = re.compile(r'<svg [^<>]*viewBox="([\d ]+)"[^<>]*><path d="([\dMHVzL, .]+)"[^<>]*/></svg>')
_CODE = re.compile(r"`([^`\n]+)`")

_CLASS_ICONS = {
    "slack": "chat", "chat": "chat", "message": "chat", "sms": "chat",
    "gmail": "mail", "mail": "mail", "email": "mail",
    "calendar": "calendar", "event": "calendar",
    "github": "code", "git": "code", "deploy": "code", "code": "code",
    "notion": "page", "doc": "page", "page": "page", "file": "page",
}  # fmt: skip
_BROWSERS = {
    "Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox",
    "Chrome/": "Chrome", "CriOS/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "Windows": "Windows", "Android": "Android", "iPhone": "iPhone", "iPad": "iPad",
    "CrOS": "ChromeOS", "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip
_STATUS_TONES = {
    "pending": "warn", "approved": "ok", "executing": "info", "done": "ok",
    "rejected": "bad", "failed": "bad", "expired": "", "cancelled": "",
}  # fmt: skip


@register.filter
def visible(text: object) -> SafeString:
    """Text as text, every unseen or reordering character named where it stands."""
    plain = str(text)
    if plain.isascii() and plain.isprintable():
        return conditional_escape(plain)
    return format_html_join("", "{}", ((_piece(piece),) for piece in pieces(plain)))


@register.filter
def plainly(text: object) -> str:
    """The same where no markup can stand, such as a page's title or a choice."""
    return odd.visible(str(text))


@register.filter
def shown_pieces(parts: Iterable[Piece]) -> SafeString:
    """The same for text that is cut into pieces already."""
    return format_html_join("", "{}", ((_piece(piece),) for piece in parts))


def _piece(piece: Piece) -> SafeString:
    if not piece.odd:
        return conditional_escape(piece.text)
    return format_html('<span class="odd" title="{}">{}</span>', piece.odd, piece.code)


@register.filter
def tree(value: object) -> SafeString:
    """A JSON value laid out for reading: names beside values, nothing left out."""
    if isinstance(value, dict) and value:
        return format_html('<dl class="facts">{}</dl>', _entries(value))
    if isinstance(value, list) and value:
        items = format_html_join("", "<li>{}</li>", ((tree(item),) for item in value))
        return format_html('<ul class="values">{}</ul>', items)
    if isinstance(value, str) and value:
        return format_html('<span class="text">{}</span>', visible(value))
    return format_html("<code>{}</code>", json.dumps(value))


def _entries(value: dict[str, Any]) -> SafeString:
    pairs = ((visible(name), tree(inner)) for name, inner in value.items())
    return format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs)


@register.filter
def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(), moments.exact(moment), moments.spoken(moment),
    )  # fmt: skip


@register.filter
def exact(moment: datetime | None) -> SafeString | str:
    if moment is None:
        return ""
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), moments.exact(moment))


@register.simple_tag
def changes(before: str, after: str) -> SafeString:
    """A word-level difference; what is removed and added is also said to screen readers by ins and del."""
    parts = (_change(change.kind, visible(change.text)) for change in word_changes(before, after))
    return format_html_join("", "{}", ((part,) for part in parts))


def _change(kind: str, text: SafeString) -> SafeString:
    if kind == "same":
        return text
    return format_html("<del>{}</del>" if kind == "gone" else "<ins>{}</ins>", text)


@register.simple_tag
def marked(text: str, ranges: Iterable[tuple[int, int]]) -> SafeString:
    """Text with the given stretches marked; ranges are (start, end) in characters, in order, apart."""
    out, at = mark_safe(""), 0
    for start, end in ranges:
        out += visible(text[at:start]) + format_html("<mark>{}</mark>", visible(text[start:end]))
        at = end
    return SafeString(out + visible(text[at:]))


@register.filter
def laid_out(text: str) -> SafeString:
    """A document in Markdown as headings, items, quotes, code and paragraphs."""
    return format_html_join("\n", "{}", ((_block(block),) for block in documents.blocks(text)))


def _block(block: documents.Block) -> SafeString:
    said = visible(block.text) if block.kind == "code" else _with_code(block.text)
    match block.kind:
        case "heading":
            level = min(block.level + 1, 6)
            return format_html('<h{} class="doc-h{}">{}</h{}>', level, block.level, said, level)
        case "item":
            form = '<p class="doc-item" data-level="{}"><span class="doc-mark">{}</span><span>{}</span></p>'
            return format_html(form, block.level, block.mark, said)
        case "code":
            return format_html('<pre class="well doc-code" tabindex="0">{}</pre>', said)
        case "quote":
            return format_html("<blockquote>{}</blockquote>", said)
        case "rule":
            return mark_safe("<hr>")
        case _:
            return format_html("<p>{}</p>", said)


def _with_code(text: str) -> SafeString:
    """`Like this` inside a line."""
    parts = enumerate(_CODE.split(text))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", visible(p)) if n % 2 else visible(p),) for n, p in parts)
    )


@register.simple_tag
def icon(name: str, class_: str = "") -> SafeString:
    return format_html(
        '<svg class="icon {}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        class_, static("icons.svg"), name,
    )  # fmt: skip


@register.filter
def drawn(svg: str) -> SafeString:
    """A QR code as allauth draws it: one path of numbers, and nothing else."""
    found = _DRAWING.search(svg)
    if found is None:
        raise ValueError("not a drawing of one path")
    return format_html('<svg viewBox="{}"><path d="{}"></path></svg>', *found.groups())


@register.filter
def class_icon(action_class: str) -> str:
    return _CLASS_ICONS.get(action_class.split(".")[0].split("_")[0].split("-")[0], "action")


@register.filter
def status_tone(status: str) -> str:
    return _STATUS_TONES.get(status, "")


@register.filter
def safe_link(address: str) -> SafeString:
    """A link only where it is plain http, https or mailto, its host in sight; anything else stays text."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return visible(address)
    if parts.scheme not in ("http", "https", "mailto") or any(piece.odd for piece in pieces(address)):
        return visible(address)
    return format_html(
        '<a href="{}" rel="noopener noreferrer" target="_blank">{}<span class="visually-hidden"> {}</span></a>',
        address.strip(), visible(address.strip()), _("(opens in a new tab)"),
    )  # fmt: skip


@register.filter
def initials(name: str) -> str:
    words = [word for word in name.split() if word[:1].isalnum()]
    return "".join(word[0] for word in words[:2]) or "·"


@register.filter
def browser(user_agent: str) -> str:
    """What a browser says it is, in short; in its own words where those are not known."""
    found = [
        next((known[sign] for sign in known if sign in user_agent), "") for known in (_BROWSERS, _SYSTEMS)
    ]
    return _("{} on {}").format(*found) if all(found) else user_agent


@register.filter
def groups_of_eight(digest: str) -> str:
    return " ".join(digest[at : at + 8] for at in range(0, len(digest), 8))


@register.filter
def one_line(value: object) -> str:
    """Compact JSON, for lists; whole values have a page of their own."""
    return json.dumps(value, ensure_ascii=False)[:300]


@register.simple_tag(takes_context=True)
def with_choice(context: Context, name: str, value: str) -> str:
    """The query of this page with one choice made (or, made already, taken back), from its first page on."""
    query = _query(context)
    if query.get(name) == value:
        del query[name]
    else:
        query[name] = value
    return query.urlencode()


@register.simple_tag(takes_context=True)
def without(context: Context, name: str) -> str:
    query = _query(context)
    query.pop(name, None)
    return query.urlencode()


def _query(context: Context) -> QueryDict:
    query: QueryDict = context["request"].GET.copy()
    query.pop("page", None)
    return query
