"""A server of fixtures for the conformance suite. It is mounted in tests only, and stores nothing."""

import json
from typing import Any

import mcp_types as t
from mcp.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from tests.conformance.questions import prompt_with_question
from tests.conformance.tools import PIXEL, TOOLS, Context, embedded, image

STATIC_TEXT = t.TextResourceContents(
    uri="test://static-text",
    mime_type="text/plain",
    text="This is the content of the static text resource.",
)
STATIC_BINARY = t.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PIXEL)
STATIC = {str(contents.uri): contents for contents in (STATIC_TEXT, STATIC_BINARY)}
TEMPLATE_START, TEMPLATE_END = "test://template/", "/data"

PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_tools(context: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[tool.wire for tool in TOOLS.values()])


async def call_tool(
    context: Context, params: t.CallToolRequestParams
) -> t.CallToolResult | t.InputRequiredResult:
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(t.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await tool.handler(context, params)


async def list_resources(context: Context, params: t.PaginatedRequestParams | None) -> t.ListResourcesResult:
    return t.ListResourcesResult(
        resources=[
            t.Resource(
                uri=uri, name=uri.rpartition("/")[2], description="A fixture.", mime_type=contents.mime_type
            )
            for uri, contents in STATIC.items()
        ]
    )


async def list_templates(
    context: Context, params: t.PaginatedRequestParams | None
) -> t.ListResourceTemplatesResult:
    template = t.ResourceTemplate(
        uri_template="test://template/{id}/data", name="template", mime_type="application/json"
    )
    return t.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = str(params.uri)
    if uri in STATIC:
        return t.ReadResourceResult(contents=[STATIC[uri]])
    if uri.startswith(TEMPLATE_START) and uri.endswith(TEMPLATE_END):
        id = uri.removeprefix(TEMPLATE_START).removesuffix(TEMPLATE_END)
        words = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        contents = t.TextResourceContents(uri=uri, mime_type="application/json", text=words)
        return t.ReadResourceResult(contents=[contents])
    raise MCPError(t.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def list_prompts(context: Context, params: t.PaginatedRequestParams | None) -> t.ListPromptsResult:
    return t.ListPromptsResult(
        prompts=[
            t.Prompt(
                name=name,
                description="A fixture.",
                arguments=[t.PromptArgument(name=argument, required=True) for argument in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(
    context: Context, params: t.GetPromptRequestParams
) -> t.GetPromptResult | t.InputRequiredResult:
    given = params.arguments or {}
    if params.name == "test_input_required_result_prompt":
        return await prompt_with_question(params)
    if params.name == "test_simple_prompt":
        return spoken(words("This is a simple prompt for testing."))
    if params.name == "test_prompt_with_arguments":
        return spoken(words(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))
    if params.name == "test_prompt_with_embedded_resource":
        resource = embedded(given.get("resourceUri", ""), "Embedded resource content for testing.")
        return spoken(resource, words("Please process the embedded resource above."))
    if params.name == "test_prompt_with_image":
        return spoken(image(), words("Please analyze the image above."))
    raise MCPError(t.INVALID_PARAMS, f"Unknown prompt: {params.name}")


def words(text: str) -> t.TextContent:
    return t.TextContent(text=text)


def spoken(*contents: Any) -> t.GetPromptResult:
    return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=content) for content in contents])


async def complete(context: Context, params: t.CompleteRequestParams) -> t.CompleteResult:
    return t.CompleteResult(completion=t.Completion(values=[], total=0, has_more=False))


async def accept(context: Context, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


def tool_input_schema(name: str) -> dict[str, Any] | None:
    return TOOLS[name].wire.input_schema if name in TOOLS else None


def fixture_server() -> Server[Any]:
    server: Server[Any] = Server(
        "conformance-fixture",
        version="1",
        get_tool_input_schema=tool_input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accept,
        on_unsubscribe_resource=accept,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    server.add_request_handler("logging/setLevel", t.SetLevelRequestParams, accept)
    security = RequestStateSecurity(keys=[b"only for tests, thirty-two bytes"], bind_principal=None)
    server.middleware.append(RequestStateBoundary(security, default_audience=None))
    return server
