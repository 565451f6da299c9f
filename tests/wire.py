"""An operation's arguments as the request that REST takes them in."""

import json
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from memoryhub.operations.base import REGISTRY, Operation

BODILESS = ("GET", "DELETE")


class Request(NamedTuple):
    method: str
    path: str
    body: bytes


def called(operation: Operation) -> str:
    """What these tests call it: its name, with its family where the hub has one of that name."""
    shared = operation.family != "hub" and REGISTRY.get(operation.name, "hub")
    return f"{operation.family}.{operation.name}" if shared else operation.name


def find(called: str) -> Operation:
    family, _, name = called.rpartition(".")
    operation = REGISTRY.get(name, family or None)
    assert operation is not None, called
    return operation


def as_request(name: str, arguments: dict[str, Any]) -> Request:
    """Those that aren't in the path go in the query or the body. A query has no null: there it is left out."""
    route, rest = find(name).route, dict(arguments)
    assert route is not None
    path = route.path
    for argument in list(rest):
        for spelling in (f"{{{argument}}}", f"{{{argument}:path}}"):
            if spelling in path:
                path = path.replace(spelling, quote(str(rest.pop(argument)), safe="", errors="surrogatepass"))
                break
    if route.method not in BODILESS:
        return Request(route.method, f"/v1/{path}", as_json(rest))
    query = urlencode(
        {n: in_query(v) for n, v in rest.items() if v is not None}, doseq=True, errors="surrogatepass"
    )
    return Request(route.method, f"/v1/{path}?{query}" if query else f"/v1/{path}", b"")


def as_json(value: Any) -> bytes:
    """Half surrogates as their escapes, NaN and Infinity by name: as sloppy clients send them."""
    return json.dumps(value).encode()


def in_query(value: Any) -> Any:
    if isinstance(value, list):
        return [in_query(item) for item in value]
    return value if isinstance(value, str) else json.dumps(value)
