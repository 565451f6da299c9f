"""Tools and a prompt that ask the client something before they answer (2026-07-28)."""

from typing import Any

import mcp_types as t

from tests.conformance.tools import Context, fixture_tool, text

STATE_BEFORE_COLOUR = "step-1"


def form(message: str, name: str, kind: str = "string") -> t.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return t.ElicitRequest(params=t.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str, max_tokens: int = 100) -> t.CreateMessageRequest:
    message = t.SamplingMessage(role="user", content=t.TextContent(text=words))
    return t.CreateMessageRequest(
        params=t.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


def roots() -> t.ListRootsRequest:
    return t.ListRootsRequest(params=t.RequestParams())


def ask(state: str | None = None, **questions: Any) -> t.InputRequiredResult:
    return t.InputRequiredResult(input_requests=questions, request_state=state)


def answered(params: t.InputResponseRequestParams, *keys: str) -> bool:
    return all(key in (params.input_responses or {}) for key in keys)


def field(params: t.InputResponseRequestParams, key: str, name: str) -> Any:
    """A field of a form's answer; None when that question was not answered with a form."""
    response = (params.input_responses or {}).get(key)
    return (response.content or {}).get(name) if isinstance(response, t.ElicitResult) else None


Answer = t.CallToolResult | t.InputRequiredResult


@fixture_tool()
async def test_input_required_result_elicitation(context: Context, params: t.CallToolRequestParams) -> Answer:
    """Asks for a name."""
    name = field(params, "user_name", "name")
    return text(f"Hello, {name}!") if name else ask(user_name=form("What is your name?", "name"))


@fixture_tool()
async def test_streaming_elicitation(context: Context, params: t.CallToolRequestParams) -> Answer:
    """Asks, without sending a request of its own."""
    return ask(user_name=form("What is your name?", "name"))


@fixture_tool()
async def test_input_required_result_sampling(context: Context, params: t.CallToolRequestParams) -> Answer:
    """Asks the client's model."""
    response = (params.input_responses or {}).get("capital_question")
    if isinstance(response, t.CreateMessageResult) and isinstance(response.content, t.TextContent):
        return text(response.content.text)
    return ask(capital_question=sample("What is the capital of France?"))


@fixture_tool()
async def test_input_required_result_list_roots(context: Context, params: t.CallToolRequestParams) -> Answer:
    """Asks for the client's roots."""
    response = (params.input_responses or {}).get("client_roots")
    if isinstance(response, t.ListRootsResult):
        return text(", ".join(str(root.uri) for root in response.roots))
    return ask(client_roots=roots())


@fixture_tool()
async def test_input_required_result_request_state(
    context: Context, params: t.CallToolRequestParams
) -> Answer:
    """Gets its state back."""
    if params.request_state == "pending" and answered(params, "confirm"):
        return text("state-ok")
    return ask("pending", confirm=form("Please confirm", "ok", "boolean"))


@fixture_tool()
async def test_input_required_result_tampered_state(
    context: Context, params: t.CallToolRequestParams
) -> Answer:
    """Gets its state back, or refuses another."""
    return await test_input_required_result_request_state(context, params)


@fixture_tool()
async def test_input_required_result_multiple_inputs(
    context: Context, params: t.CallToolRequestParams
) -> Answer:
    """Asks three things at once."""
    if params.request_state == "pending" and answered(params, "user_name", "greeting", "client_roots"):
        return text("All three were answered.")
    questions = {
        "user_name": form("What is your name?", "name"),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": roots(),
    }
    return ask("pending", **questions)


@fixture_tool()
async def test_input_required_result_multi_round(context: Context, params: t.CallToolRequestParams) -> Answer:
    """Asks, and asks again."""
    if params.request_state == STATE_BEFORE_COLOUR and answered(params, "step1"):
        return ask("step-2", step2=form("Step 2: What is your favorite color?", "color"))
    if params.request_state == "step-2" and answered(params, "step2"):
        return text("Both rounds were answered.")
    return ask(STATE_BEFORE_COLOUR, step1=form("Step 1: What is your name?", "name"))


@fixture_tool()
async def test_input_required_result_capabilities(
    context: Context, params: t.CallToolRequestParams
) -> Answer:
    """Asks only what the client can answer."""
    able = context.session.client_capabilities or t.ClientCapabilities()
    questions: dict[str, Any] = {}
    if able.sampling is not None:
        questions["greeting"] = sample("Generate a greeting")
    if able.elicitation is not None:
        questions["user_name"] = form("What is your name?", "name")
    return ask(**questions) if questions else text("There is nobody to ask.")


async def prompt_with_question(params: t.GetPromptRequestParams) -> t.GetPromptResult | t.InputRequiredResult:
    about = field(params, "user_context", "context")
    if not about:
        return ask(user_context=form("What context should the prompt use?", "context"))
    message = t.PromptMessage(role="user", content=t.TextContent(text=f"Context: {about}"))
    return t.GetPromptResult(messages=[message])
