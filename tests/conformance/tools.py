"""Tools the conformance suite calls by name: one for each kind of content and each rule of the transport."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as t
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]
Handler = Callable[[Context, t.CallToolRequestParams], Awaitable[t.CallToolResult | t.InputRequiredResult]]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
).decode()
BETWEEN_REPORTS = 0.02
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class FixtureTool:
    wire: t.Tool
    handler: Handler


TOOLS: dict[str, FixtureTool] = {}


def fixture_tool(schema: dict[str, Any] = NO_ARGUMENTS) -> Callable[[Handler], Handler]:
    """The function's name is the tool's, its docstring the description."""

    def add(handler: Handler) -> Handler:
        name = handler.__name__
        TOOLS[name] = FixtureTool(
            t.Tool(name=name, description=handler.__doc__, input_schema=schema), handler
        )
        return handler

    return add


def text(words: str, *, is_error: bool = False) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=words)], is_error=is_error)


def image() -> t.ImageContent:
    return t.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> t.EmbeddedResource:
    return t.EmbeddedResource(resource=t.TextResourceContents(uri=uri, mime_type=mime_type, text=words))


@fixture_tool()
async def test_simple_text(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answers one line of text."""
    return text("This is a simple text response for testing.")


@fixture_tool()
async def test_image_content(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answers one pixel."""
    return t.CallToolResult(content=[image()])


@fixture_tool()
async def test_audio_content(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answers an empty recording."""
    return t.CallToolResult(content=[t.AudioContent(data=SILENCE, mime_type="audio/wav")])


@fixture_tool()
async def test_embedded_resource(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answers a resource inside the result."""
    resource = embedded("test://embedded-resource", "This is an embedded resource content.")
    return t.CallToolResult(content=[resource])


@fixture_tool()
async def test_multiple_content_types(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answers text, an image and a resource."""
    words = t.TextContent(text="Multiple content types test:")
    resource = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return t.CallToolResult(content=[words, image(), resource])


@fixture_tool()
async def test_error_handling(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Fails, always."""
    return text("This tool intentionally returns an error for testing", is_error=True)


@fixture_tool()
async def test_tool_with_progress(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Reports its progress three times."""
    for progress in (0, 50, 100):
        await context.session.report_progress(progress, 100)
        await anyio.sleep(BETWEEN_REPORTS)
    return text("Done, having reported three times.")


@fixture_tool()
async def test_logging_tool(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Would log, if it were asked to: nobody asked, so nothing is sent."""
    return text("Done, without a word to the log.")


@fixture_tool()
async def test_missing_capability(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Needs a client that samples."""
    sampling = t.ClientCapabilities(sampling=t.SamplingCapability())
    if not context.session.check_client_capability(sampling):
        needed = t.MissingRequiredClientCapabilityErrorData(required_capabilities=sampling)
        raise MCPError(
            t.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs the sampling capability.",
            needed.model_dump(mode="json", by_alias=True, exclude_none=True),
        )
    return text("The client samples.")


@fixture_tool(
    {
        "type": "object",
        "properties": {
            "region": {"type": "string", "description": "Where to run.", "x-mcp-header": "Region"}
        },
    }
)
async def test_x_mcp_header(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Repeats an argument in a header."""
    return text(f"Region: {(params.arguments or {}).get('region')}")


@fixture_tool(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
async def json_schema_2020_12_tool(context: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Has a schema with the keywords of JSON Schema 2020-12."""
    return text("The schema is the point.")
