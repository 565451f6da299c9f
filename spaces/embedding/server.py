"""The embedder as an ASGI application: the OpenAI interface `/v1/embeddings` over one model or more."""

import asyncio
import base64
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from spaces.embedding.base import EmbeddingError, Trouble, Vector
from spaces.embedding.engine import Engine

log = logging.getLogger(__name__)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

Engines = Mapping[str, Engine]

MOST_BYTES = 16 * 1024 * 1024
MOST_TEXTS = 512


class Refusal(Exception):
    """An answer other than 200, in the form that OpenAI's has."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def build_server(engines: Sequence[Engine], api_key: str = "") -> Application:
    """Whoever embeds must know the key, if there is one."""
    by_name = {engine.name: engine for engine in engines}
    expected = f"Bearer {api_key}".encode() if api_key else b""

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await _answer(send, *await _respond(by_name, expected, scope, receive))

    return application


async def _lifespan(receive: Receive, send: Send) -> None:
    for done in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{done}.complete"})


async def _respond(engines: Engines, expected: bytes, scope: Message, receive: Receive) -> tuple[int, Any]:
    try:
        return 200, await _route(engines, expected, scope, receive)
    except Refusal as refusal:
        return refusal.status, _error(refusal.code, refusal.message)
    except EmbeddingError as error:
        code = error.trouble if error.trouble is Trouble.PREPARING else "no_model"
        return 503, _error(code, error.message)
    except Exception as error:  # its message may hold the text
        log.error("Embedding failed: %s", type(error).__name__)
        return 500, _error("internal", "Embedding failed.")


async def _route(engines: Engines, expected: bytes, scope: Message, receive: Receive) -> Any:
    match scope["method"], scope["path"].rstrip("/"):
        case "GET", "/healthz":
            return {"models": [engine.status for engine in engines.values()]}
        case "GET", "/v1/models":
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in engines]}
        case "POST", "/v1/embeddings":
            _check_key(expected, scope)
            return await _embed(engines, await _body(receive), receive)
    raise Refusal(404, "not_found", "There is nothing at this address.")


def _check_key(expected: bytes, scope: Message) -> None:
    sent = dict(scope["headers"]).get(b"authorization", b"")
    if expected and not hmac.compare_digest(sent, expected):
        raise Refusal(401, "invalid_api_key", "Send the embedder's key as `Authorization: Bearer …`.")


async def _body(receive: Receive) -> Any:
    content = bytearray()
    more = True
    while more:
        message = await receive()
        content += message.get("body", b"")
        more = message.get("more_body", False)
        if len(content) > MOST_BYTES:
            raise Refusal(413, "too_large", "The request is too large.")
    try:
        return json.loads(content)
    except ValueError:
        raise Refusal(400, "invalid_json", "The request is not JSON.") from None


async def _embed(engines: Engines, body: Any, receive: Receive) -> Any:
    texts, form = _checked(body)
    engine = engines.get(str(body.get("model")))
    if engine is None:
        raise Refusal(404, "model_not_found", f"There is {' and '.join(engines)} here.")
    crew = engine.crew()
    vectors = await _while_connected(asyncio.gather(*map(asyncio.wrap_future, crew.submit(texts))), receive)
    items = [{"object": "embedding", "index": i, "embedding": form(v)} for i, v in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": engine.name, "data": items, "usage": usage}


def _checked(body: Any) -> tuple[list[str], Callable[[Vector], Any]]:
    given = body.get("input") if isinstance(body, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "invalid_input", "`input` must be a text or a list of texts.")
    if not 0 < len(texts) <= MOST_TEXTS or not all(text.strip() for text in texts):
        raise Refusal(400, "invalid_input", f"`input` must be 1 to {MOST_TEXTS} texts, none of them blank.")
    forms = {"float": _numbers, "base64": _base64}
    if (form := body.get("encoding_format", "float")) not in forms:
        raise Refusal(400, "invalid_encoding_format", "`encoding_format` must be float or base64.")
    return texts, forms[form]


async def _while_connected(work: "asyncio.Future[list[Vector]]", receive: Receive) -> list[Vector]:
    """Nobody computes for a caller who has left."""
    left = asyncio.ensure_future(_disconnected(receive))
    waiting: list[asyncio.Future[Any]] = [work, left]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    left.cancel()
    if not work.done():
        work.cancel()
        raise Refusal(499, "client_left", "The caller left.")
    return work.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _numbers(vector: Vector) -> list[float]:
    return [round(number, 7) for number in vector.tolist()]


def _base64(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _error(code: str, message: str) -> Any:
    return {"error": {"code": code, "type": code, "message": message}}


async def _answer(send: Send, status: int, content: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(content).encode()})
