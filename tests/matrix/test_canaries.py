"""A secret is planted wherever an operation or a page takes text, and is then in no table, answer, log or page.

Read off the registry and the declared pages: a new argument, operation or form is tried without a line here.
"""

import json
import logging
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.actor import Actor
from accounts.domain.credentials import authenticate
from memoryhub.common.errors import HubError
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import Operation
from tests.matrix.asking import HERE, lowered
from tests.matrix.operations import OPERATIONS, filled
from tests.matrix.pages import PAGES
from tests.matrix.world import World, undone
from tests.wire import find

pytestmark = pytest.mark.django_db

SAID = "Ann uses {} for the nightly deploys, and the people of the night shift know where it is kept."
# Their fields are sealed, and tried where connections and webhooks are.
MEANT_TO = {"connection-new", "webhook-new", "webhook-change"}
POSTED = [
    name
    for name, page in PAGES.items()
    if page.data and page.address.startswith("/a/") and name not in MEANT_TO
]


def canary(seed: str) -> str:
    return expand("ghp_{crc:30}", Random(seed))


def planted(schema: dict[str, Any], text: str, secret: str) -> Iterator[Any]:
    """Values of the schema's type, each with the secret somewhere inside."""
    kind = schema.get("type")
    if kind == "string":
        yield text
        yield secret
    elif kind == "array":
        for inside in planted(schema.get("items", {}), text, secret):
            yield [inside]
    elif kind == "object" and schema.get("properties"):
        for name, inner in schema["properties"].items():
            for inside in planted(inner, text, secret):
                yield {"text": "Tea is at four", "kind": "fact", name: inside}
    elif kind in (None, "object"):
        yield {"a": [{"b": text}]}
        yield {
            "a": {secret: 1, "note": "a name of the thing, and a longer text beside it, as people write them"}
        }
        yield json.dumps({"a": [{"b": text}]})


def dump(world: World) -> str:
    """Every row of every table that this team may read."""
    with tenant(world.ours.account.id), connection.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public' order by 1")
        tables = [row[0] for row in cursor.fetchall()]
        texts = []
        for table in tables:
            cursor.execute(f"select coalesce(string_agg(t::text, chr(10)), '') from \"{table}\" t")
            texts.append(cursor.fetchone()[0])
    return "\n".join(texts)


def answered(operation: Operation, actor: Actor, arguments: dict[str, Any]) -> str:
    try:
        return json.dumps(operation(actor, arguments), ensure_ascii=False)
    except HubError as refusal:
        return json.dumps(refusal.body(), ensure_ascii=False, default=str)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_secret_in_any_argument_of_an_operation_is_kept_nowhere(
    world: World, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    operation = find(name).over_rest
    actor = authenticate(lowered(world.knockers["key of the owner"]), address=HERE)
    valid = filled(OPERATIONS[name].call, world.ours.ids)
    tried = 0
    for argument, schema in {**operation.arguments, "unheard_of": {"type": "string"}}.items():
        secret = canary(f"{name} {argument}")
        for value in planted(schema, SAID.format(secret), secret):
            with undone():
                told = answered(operation, actor, {**valid, argument: value})
                assert secret not in told, argument
                assert secret not in dump(world), argument
            tried += 1
        with undone():
            told = answered(operation, actor, {**valid, secret: "a name that nobody knows"})
            assert secret not in told
    assert secret not in caplog.text
    assert tried


def test_a_secret_that_is_stored_in_words_is_cut_and_told(world: World) -> None:
    """So that the test above can fail: what it plants would be kept."""
    actor = authenticate(lowered(world.knockers["key of the owner"]), address=HERE)
    secret = canary("told")
    with undone():
        answer = find("remember").over_rest(actor, {"text": SAID.format(secret)})
        assert answer["memory"]["text"] == SAID.format("[REDACTED:github_token]")
        assert answer["redactions"] == [{"category": "github_token", "count": 1}]
        assert "[REDACTED:github_token]" in dump(world)


@pytest.mark.parametrize("name", POSTED)
def test_a_secret_in_any_field_of_a_form_is_kept_nowhere(
    world: World, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page, ids = PAGES[name], {**world.ours.ids}
    data = filled(page.data, ids)
    for field in {*data, "unheard_of"}:
        secret = canary(f"{name} {field}")
        for value in (SAID.format(secret), secret, json.dumps({"a": SAID.format(secret)})):
            with undone():
                client: Client = world.browser("owner")
                answer = client.post(page.address.format_map(ids), {**data, field: value}, follow=True)
                assert secret not in answer.content.decode(), field
                assert secret not in dump(world), field
        assert secret not in caplog.text, field


def test_a_secret_in_what_a_client_says_of_itself_is_kept_nowhere(world: World) -> None:
    secret = canary("header")
    headers = {
        "x-memory-hub-agent-id": secret,
        "x-memory-hub-agent-instance-id": f"a {secret}",
        "x-memory-hub-device-label": secret,
        "mcp-session-id": secret,
        "user-agent": f"agent/1.0 ({secret})",
        "x-memory-hub-space": "main",
    }
    with undone():
        actor = authenticate({**lowered(world.knockers["key of the owner"]), **headers}, address=HERE)
        told = answered(find("remember").over_rest, actor, {"text": "The office is closed on Fridays"})
        assert secret not in told
        assert secret not in dump(world)
        assert "[REDACTED:github_token]" in told
