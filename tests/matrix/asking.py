"""Asking with a key, over REST or by a tool, and what came of it."""

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.test import Client

from accounts.domain.credentials import authenticate
from memoryhub.common.errors import HubError
from tests.matrix.operations import ABSENT, ALLOWED, FORBIDDEN, OPERATIONS, UNAUTHORIZED, filled
from tests.matrix.world import CLOSED, OURS, Knocker, World, undone
from tests.oauth import MCP
from tests.wire import as_request, find

# Who is told that no model is there was let in.
STATUS = {200: ALLOWED, 201: ALLOWED, 401: UNAUTHORIZED, 403: FORBIDDEN, 404: ABSENT, 503: ALLOWED}
HERE = "192.0.2.1"

Way = Callable[[World, Knocker, str, dict[str, Any]], tuple[str, str]]


def outcomes(world: World, name: str, way: Way) -> dict[str, str]:
    return {who: tried(world, knocker, name, way) for who, knocker in world.knockers.items()}


def tried(world: World, knocker: Knocker, name: str, way: Way, *, closed: bool = False) -> str:
    """The outcome. Whatever it is, nothing of ours reaches those who see none of our spaces."""
    with undone():
        arguments = filled(OPERATIONS[name].call, world.ours.closed_ids if closed else world.ours.ids)
        outcome, text = way(world, knocker, name, arguments)
    blind = knocker.refused or knocker.outsider or knocker.elsewhere
    word = CLOSED if closed else OURS
    return f"{outcome}, and told {word}: {text}" if blind and word in text else outcome


def over_rest(world: World, knocker: Knocker, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    response = request(world.browser("nobody"), name, arguments, knocker.headers)
    text = response.content.decode()
    return STATUS.get(response.status_code, f"{response.status_code} {text}"), text


def as_tool(world: World, knocker: Knocker, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    try:
        actor = authenticate(lowered(knocker), address=HERE, resource=MCP)
        return ALLOWED, json.dumps(find(name)(actor, arguments))
    except HubError as refusal:
        return STATUS.get(refusal.status, refusal.message), str(refusal.body())


def request(client: Client, name: str, arguments: dict[str, Any], headers: dict[str, str]) -> HttpResponse:
    method, path, body = as_request(name, arguments)
    return client.generic(
        method, path, body, content_type="application/json", headers=headers, REMOTE_ADDR=HERE
    )


def lowered(knocker: Knocker) -> dict[str, str]:
    return {name.lower(): value for name, value in knocker.headers.items()}
