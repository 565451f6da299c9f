"""What a request has to be, whoever sends it, before its body means anything."""

from collections.abc import Mapping
from typing import NoReturn

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from starlette.types import Receive, Scope

from memoryhub.mcp.refusals import refuse

METHOD = "POST"


def plain_headers(scope: Scope) -> dict[str, str]:
    """Headers by lower-case name. Some servers leave white space after a value; it is not part of it."""
    return {name.decode("latin-1"): value.decode("latin-1").strip(" \t") for name, value in scope["headers"]}


def check_place(headers: Mapping[str, str]) -> None:
    """Only our own hosts, and browsers only from listed origins: a page elsewhere can't reach a local hub."""
    host, _ = split_domain_port(headers.get("host", ""))
    if not host or not validate_host(host, settings.ALLOWED_HOSTS):
        refuse(
            421,
            "invalid_request",
            "This is no name of the hub: whoever runs it sets PUBLIC_URL or ALLOWED_HOSTS.",
        )
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in settings.ALLOWED_ORIGINS:
        refuse(403, "forbidden", "Pages from this Origin may not call this server.")


def check_method(method: str) -> None:
    """There is no stream to GET and no session to DELETE."""
    if method != METHOD:
        refuse(405, "invalid_request", "Send one JSON-RPC message by POST.", {"Allow": METHOD})


def check_form(headers: Mapping[str, str]) -> None:
    media_type, _, _ = headers.get("content-type", "").partition(";")
    if media_type.strip().lower() != "application/json":
        refuse(415, "invalid_request", "Content-Type must be application/json.")
    if headers.get("content-encoding", "identity").lower() != "identity":
        refuse(415, "invalid_request", "Send the body uncompressed.", {"Accept-Encoding": "identity"})


async def read_body(headers: Mapping[str, str], receive: Receive) -> bytes | None:
    """The whole body, however it is sent; None when the client left."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > settings.BODY_LIMIT:
        refuse_size()
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > settings.BODY_LIMIT:
            refuse_size()
        if not message.get("more_body", False):
            return bytes(body)


def refuse_size() -> NoReturn:
    refuse(413, "payload_too_large", f"A message may have at most {settings.BODY_LIMIT} bytes.")
