"""notion.create_page: `POST /v1/pages`.

`content` is Markdown and becomes blocks before anybody is asked; they are kept, shown and sent as `children`.
"""

from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import Field

from actions.connectors.answers import Refused
from actions.connectors.base import (
    Ask,
    Call,
    Connector,
    Given,
    Payload,
    Unresolvable,
    one_line,
    read,
    refused,
    without_empty,
)
from actions.connectors.blocks import (
    TEXT,
    Block,
    blocks_of,
    check_blocks,
    paragraph,
)

NO_SUCH = (400, 404)  # 400: the id is a database's where a page was asked for, or the other way
CONTENT = 32 * 1024


class NotionPage(Payload):
    parent_id: str
    title: str
    content: str = Field(default="", max_length=CONTENT)
    parent_type: Literal["", "page", "database"] = ""
    children: list[Block] = Field(default_factory=list)


def normalise(payload: Given, zone: ZoneInfo) -> dict[str, Any]:
    given = read(NotionPage, payload)
    if given.content and given.children:
        raise refused("content", "Send either content (Markdown) or children (Notion's blocks).")
    children = [block.model_dump(exclude_unset=True, exclude_none=True) for block in given.children]
    members = {
        "parent_id": _parent(given.parent_id),
        "parent_type": given.parent_type,
        "title": one_line("title", given.title, TEXT),
        "children": check_blocks(children) if children else blocks_of(given.content),
    }
    return without_empty(members)


def unresolved(payload: Given) -> list[str]:
    return [] if "parent_type" in payload else ["parent_type"]


def resolve(ask: Ask, payload: Given) -> dict[str, Any]:
    """An id doesn't tell whether it is a page's or a database's."""
    for kind in ("page", "database"):
        try:
            ask(Call("GET", f"/v1/{kind}s/{payload['parent_id']}"))
        except Refused as refusal:
            if refusal.status not in NO_SUCH:
                raise
        else:
            return {**payload, "parent_type": kind}
    raise Unresolvable("Notion shows this connection no page or database with that id.")


def find(ask: Ask, payload: Given, marker: str) -> dict[str, Any] | None:
    """Among the newest pages that have its title, by their last line."""
    body = {
        "query": payload["title"],
        "filter": {"property": "object", "value": "page"},
        "sort": {"direction": "descending", "timestamp": "last_edited_time"},
        "page_size": 20,
    }
    pages = ask(Call("POST", "/v1/search", body))["results"]
    return next((receipt(page) for page in pages if _has_line(ask, page["id"], marked(marker))), None)


def receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return without_empty({"id": answer["id"], "url": answer.get("url")})


def call(payload: Given, marker: str) -> Call:
    """In a database the page's title is the property that Notion calls by the id `title`."""
    body = {
        "parent": {f"{payload['parent_type']}_id": payload["parent_id"]},
        "properties": {"title": {"title": [{"type": "text", "text": {"content": payload["title"]}}]}},
        "children": [*payload.get("children", []), paragraph(marked(marker))],
    }
    return Call("POST", "/v1/pages", body)


def marked(marker: str) -> str:
    """The last line of the page, by which it is found again."""
    return f"Memory Hub {marker}"


def _has_line(ask: Ask, page_id: str, line: str) -> bool:
    children = ask(Call("GET", f"/v1/blocks/{page_id}/children", query={"page_size": "100"}))["results"]
    return any(_line(block) == line for block in children)


def _line(block: dict[str, Any]) -> str:
    runs = block.get("paragraph", {}).get("rich_text", [])
    return "".join(run.get("text", {}).get("content", "") for run in runs)


def _parent(given: str) -> str:
    try:
        return str(UUID(given.strip()))
    except ValueError:
        raise refused("parent_id", "Must be the id of a page or database, a UUID.") from None


NOTION_CREATE_PAGE = Connector(
    "notion.create_page", "notion", "notion", 1, normalise, call, find, receipt, unresolved, resolve
)
