"""Ready-made configuration for the clients people use, with the address of this hub and a key filled in."""

import json
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

NAME = "memory-hub"


@dataclass(frozen=True)
class Configuration:
    id: str
    client: str
    where: str
    text: str


def configurations(secret: str) -> list[Configuration]:
    address = f"{settings.PUBLIC_URL}/mcp"
    headers = {"Authorization": f"Bearer {secret}"}
    return [
        Configuration("claude-code", "Claude Code", _("Run in a terminal"), _claude_code(address, secret)),
        Configuration(
            "cursor", "Cursor", "~/.cursor/mcp.json", _json("mcpServers", {"url": address, "headers": headers})
        ),
        Configuration(
            "vs-code", "VS Code", ".vscode/mcp.json",
            _json("servers", {"type": "http", "url": address, "headers": headers}),
        ),
        Configuration("chatgpt", "ChatGPT", _("As a tool in OpenAI’s Responses API"), _openai(address, secret)),
        Configuration("other", _("Another client"), _("Streamable HTTP"), f"{address}\nAuthorization: Bearer {secret}"),
    ]  # fmt: skip


def _claude_code(address: str, secret: str) -> str:
    return f'claude mcp add --transport http {NAME} {address} \\\n  --header "Authorization: Bearer {secret}"'


def _json(group: str, server: dict[str, object]) -> str:
    return json.dumps({group: {NAME: server}}, indent=2)


def _openai(address: str, secret: str) -> str:
    tool = {
        "type": "mcp",
        "server_label": NAME.replace("-", "_"),
        "server_url": address,
        "authorization": secret,
        "require_approval": "never",
    }
    return json.dumps(tool, indent=2)
