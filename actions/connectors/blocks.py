"""Markdown as Notion's blocks: headings, paragraphs, lists, quotes, code and rules, with Notion's limits.

What Notion has no block for (HTML, images, tables) stays as the text that it was. Lists inside lists are told
one after the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel, ConfigDict

from actions.connectors.base import refused

CHILDREN = 99  # Notion takes 100 in a call; the last is the marker
RUNS = 100
TEXT = 2_000
LINK = 2_000
WITH_TEXT = (
    "paragraph", "heading_1", "heading_2", "heading_3", "bulleted_list_item", "numbered_list_item", "quote", "code",
)  # fmt: skip
MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable(["image"])
LANGUAGES = frozenset(
    {"bash", "c", "c#", "c++", "css", "diff", "docker", "elixir", "go", "graphql", "haskell", "html", "java",
     "javascript", "json", "kotlin", "lua", "makefile", "markdown", "perl", "php", "python", "r", "ruby", "rust",
     "scala", "shell", "sql", "swift", "typescript", "xml", "yaml"}
)  # fmt: skip
SPELLINGS = {
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "sh": "shell",
    "yml": "yaml",
    "md": "markdown",
}
PLAIN = "plain text"


class Exact(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Link(Exact):
    url: str


class Content(Exact):
    content: str
    link: Link | None = None


class Marks(Exact):
    bold: bool = False
    italic: bool = False
    code: bool = False


class Run(Exact):
    type: Literal["text"]
    text: Content
    annotations: Marks | None = None


class Text(Exact):
    rich_text: list[Run]
    language: str | None = None


class Nothing(Exact):
    pass


class Block(Exact):
    """As Notion takes it: its type, and under that name what it holds."""

    object: Literal["block"]
    type: str
    paragraph: Text | None = None
    heading_1: Text | None = None
    heading_2: Text | None = None
    heading_3: Text | None = None
    bulleted_list_item: Text | None = None
    numbered_list_item: Text | None = None
    quote: Text | None = None
    code: Text | None = None
    divider: Nothing | None = None


@dataclass(frozen=True)
class Style:
    bold: bool = False
    italic: bool = False
    code: bool = False
    url: str = ""


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    return check_blocks(list(_blocks(MARKDOWN.parse(markdown))))


def check_blocks(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Within what one call takes: a page in several calls could be left half made."""
    if len(blocks) > CHILDREN:
        raise refused(
            "content", f"Makes {len(blocks)} blocks; a page can have {CHILDREN}. Make several pages."
        )
    for at, block in enumerate(blocks):
        _check(f"children[{at}]", block)
    return blocks


def paragraph(text: str) -> dict[str, Any]:
    return block("paragraph", [run(text, Style())])


def block(kind: str, runs: list[dict[str, Any]], **more: str) -> dict[str, Any]:
    return {"object": "block", "type": kind, kind: {"rich_text": runs, **more}}


def run(text: str, style: Style) -> dict[str, Any]:
    content: dict[str, Any] = {"content": text}
    if style.url:
        content["link"] = {"url": style.url}
    marks = {name: True for name in ("bold", "italic", "code") if getattr(style, name)}
    return {"type": "text", "text": content} | ({"annotations": marks} if marks else {})


def _check(name: str, given: dict[str, Any]) -> None:
    kind = given["type"]
    if set(given) != {"object", "type", kind}:
        raise refused(name, "Must be one block of Notion's: object, type, and what it holds under its type.")
    if kind == "divider":
        return
    runs = given[kind]["rich_text"]
    if ("language" in given[kind]) != (kind == "code"):
        raise refused(name, "Must have a language if it is code, and only then.")
    if len(runs) > RUNS:
        raise refused(
            name, f"Has {len(runs)} stretches of text; Notion takes {RUNS}. Use simpler formatting."
        )
    if any(_length(r["text"]["content"]) > TEXT for r in runs):
        raise refused(name, f"Must be texts of at most {TEXT} characters.")
    if not all(_is_address(r["text"]["link"]["url"]) for r in runs if "link" in r["text"]):
        raise refused(name, f"Must link to http, https or mailto addresses of at most {LINK} characters.")


def _blocks(tokens: list[Token]) -> Iterator[dict[str, Any]]:
    """Inside a quote everything is a quote; inside a list item the first text is the item."""
    around: list[str] = []
    for at, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            around.append(token.type.removesuffix("_open"))
        elif token.type in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            around.pop()
        elif token.type == "inline":
            yield block(_kind(tokens[at - 1], tokens[at - 2], around), list(_runs(token.children or [])))
        elif token.type in ("fence", "code_block"):
            yield block(
                "code", list(_pieces(token.content.removesuffix("\n"), Style())), language=_language(token)
            )
        elif token.type == "hr":
            yield {"object": "block", "type": "divider", "divider": {}}


def _kind(opening: Token, before: Token, around: list[str]) -> str:
    if opening.type == "heading_open":
        return f"heading_{min(int(opening.tag[1:]), 3)}"
    if not around:
        return "paragraph"
    if around[-1] == "blockquote":
        return "quote"
    first = before.type == "list_item_open"
    return (
        {"bullet_list": "bulleted_list_item", "ordered_list": "numbered_list_item"}[around[-1]]
        if first
        else "paragraph"
    )


def _runs(tokens: list[Token]) -> Iterator[dict[str, Any]]:
    """Stretches of text in one style. A link that leads nowhere safe stays a plain text with its address."""
    texts: list[tuple[str, Style]] = []
    style = Style()
    for token in tokens:
        style = _restyled(style, token)
        if text := _text(token):
            if texts and texts[-1][1] == _styled(style, token):
                texts[-1] = (texts[-1][0] + text, texts[-1][1])
            else:
                texts.append((text, _styled(style, token)))
    for text, how in texts:
        yield from _pieces(text, how)


def _restyled(style: Style, token: Token) -> Style:
    match token.type:
        case "strong_open" | "strong_close":
            return replace(style, bold=token.nesting == 1)
        case "em_open" | "em_close":
            return replace(style, italic=token.nesting == 1)
        case "link_open":
            url = str(token.attrs.get("href", ""))
            return replace(style, url=url if _is_address(url) else "")
        case "link_close":
            return replace(style, url="")
    return style


def _styled(style: Style, token: Token) -> Style:
    return replace(style, code=True) if token.type == "code_inline" else style


def _text(token: Token) -> str:
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content


def _pieces(text: str, style: Style) -> Iterator[dict[str, Any]]:
    """In stretches that Notion takes, cut between characters."""
    piece: list[str] = []
    length = 0
    for character in text:
        if length + _length(character) > TEXT:
            yield run("".join(piece), style)
            piece, length = [], 0
        piece.append(character)
        length += _length(character)
    if piece:
        yield run("".join(piece), style)


def _length(text: str) -> int:
    """As Notion counts: in UTF-16."""
    return len(text.encode("utf-16-le")) // 2


def _is_address(url: str) -> bool:
    return url.lower().startswith(("http://", "https://", "mailto:")) and len(url) <= LINK


def _language(token: Token) -> str:
    named = token.info.strip().split(" ")[0].lower()
    named = SPELLINGS.get(named, named)
    return named if named in LANGUAGES else PLAIN
