"""The page of the docs that lists every tool, made from the registry."""

from collections.abc import Iterator

from accounts.scopes import FAMILIES
from memoryhub.operations.base import REGISTRY, Operation

HEAD = """\
# Every tool

Made from the definitions that serve them. `/mcp` has all of these; `/mcp/<family>` has one family's. A key is shown the
tools of its families whose scopes it has, at each address. An argument with a star is required; what an argument means,
and its limits, stand in the schema that the server lists.
"""
ABOUT = {
    "hub": "The hub's own: context, memories, journal, records, values, actions and dreams.",
    "decisions": "What sessions decided, with what replaced what.",
    "paths": "Memories by paths, where projects are spaces; and the ledger.",
    "zerodb": "Memories with metadata, sessions, plans, auto-context and write-backs.",
    "connector": "Search and fetch, for ChatGPT's connectors and deep research.",
}


def tools_page() -> str:
    return "\n".join([HEAD, *(line for family in FAMILIES for line in section(family))])


def section(family: str) -> Iterator[str]:
    if tools := REGISTRY.tools(family):
        yield f"## `/mcp/{family}`\n\n{ABOUT[family]} [Moving here](moving/{family}.md).\n"
        yield "| tool | what it is for | arguments | scopes |\n|---|---|---|---|"
        yield from (row(tool) for tool in tools)
        yield ""


def row(tool: Operation) -> str:
    return f"| `{tool.name}` | {tool.title} | {arguments(tool)} | {tool.told_scopes} |"


def arguments(tool: Operation) -> str:
    required = tool.input_schema.get("required", [])
    return ", ".join(f"`{name}`{'*' if name in required else ''}" for name in tool.arguments) or "none"
