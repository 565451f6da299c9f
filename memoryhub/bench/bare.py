"""The bound: routes that make the same queries through the ORM, and nothing else. They trust whoever asks."""

import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.utils import timezone  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

from accounts.actor import Actor  # noqa: E402
from accounts.domain.credentials import authenticate  # noqa: E402
from memoryhub.common.ids import new_id  # noqa: E402
from memoryhub.common.tenancy import tenant  # noqa: E402
from memoryhub.common.text import text_hash  # noqa: E402
from memoryhub.common.threads import in_db_thread  # noqa: E402
from spaces.domain.values import access_value  # noqa: E402
from spaces.models import Memory  # noqa: E402

ACTORS: dict[str, Actor] = {}


def known(key: str) -> Actor:
    """Looked up once for all: who calls is no part of the bound."""
    if key not in ACTORS:
        ACTORS[key] = authenticate({"x-api-key": key}, address="")
    return ACTORS[key]


def read_value(asked: dict[str, Any]) -> dict[str, Any]:
    actor = known(asked["actor"])
    with tenant(actor.account_id):
        found = access_value(actor, asked["ns"], asked["key"])
    return {"value": found.value, "version": found.version, "updated_at": found.updated_at.isoformat()}


def insert_memory(asked: dict[str, Any]) -> dict[str, Any]:
    actor, now = known(asked["actor"]), timezone.now()
    memory = Memory(
        id=new_id(),
        account_id=actor.account_id,
        space_id=actor.default_space_id,
        text=asked["text"],
        identity=text_hash(asked["text"]),
        written_by=actor.key,
        created_at=now,
        updated_at=now,
        last_seen_at=now,
        occurred_at=now,
    )
    with tenant(actor.account_id):
        memory.save(force_insert=True)
    return {"id": str(memory.id)}


async def read(request: Request) -> JSONResponse:
    return JSONResponse(await in_db_thread(read_value, await request.json()))


async def write(request: Request) -> JSONResponse:
    return JSONResponse(await in_db_thread(insert_memory, await request.json()))


application = Starlette(
    routes=[Route("/read", read, methods=["POST"]), Route("/write", write, methods=["POST"])]
)
