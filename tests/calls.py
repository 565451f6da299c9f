"""Calling as agents do: operations by name or over REST, one at a time or many at once."""

import json
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import jsonschema
import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

import memoryhub.operations.catalogue  # noqa: F401
from accounts.actor import Actor
from memoryhub.common.errors import HubError
from memoryhub.operations.base import REGISTRY
from spaces.domain.embeddings.queries import forget as forget_questions
from spaces.domain.search.frequencies import forget_counts
from spaces.domain.search.sizes import forget_sizes

T = TypeVar("T")


def call(actor: Actor, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The answer, which has to be what its schema says."""
    operation = REGISTRY.get(name, "hub")
    assert operation is not None, name
    answer = operation.over_rest(actor, arguments)
    jsonschema.validate(answer, operation.over_rest.output_schema)
    return answer


def refused(actor: Actor, name: str, /, **arguments: Any) -> dict[str, Any]:
    """What the caller is told: the error's code, message and details."""
    with pytest.raises(HubError) as caught:
        call(actor, name, **arguments)
    body = caught.value.body()["error"]
    assert isinstance(body, dict)
    return body


def fields(error: dict[str, Any]) -> list[str]:
    return list(error["details"]["fields"])


class Caller:
    """A client of the interface with one key."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.client = Client(raise_request_exception=False)

    def __call__(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **options: Any
    ) -> HttpResponse:
        headers = {"Authorization": f"Bearer {self.secret}", **options.pop("headers", {})}
        content = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        kind = options.pop("content_type", "application/json")
        return self.client.generic(
            method, f"/v1/{path}", content, content_type=kind, headers=headers, **options
        )


def queries(act: Callable[[], object]) -> int:
    """How many it takes in a process that has just started: what is kept between calls runs out at any time."""
    forget_counts()
    forget_sizes()
    forget_questions()
    with CaptureQueriesContext(connection) as captured:
        act()
    return len(captured)


def as_owner(sql: str) -> int:
    """The way of somebody with the database's owner login: past the application and its grants. Rows changed."""
    owner = settings.DB_OWNER
    parameters = {"host": owner["HOST"], "port": owner["PORT"] or None, "user": owner["USER"]}
    with psycopg.connect(
        dbname=connection.settings_dict["NAME"], password=owner["PASSWORD"], **parameters
    ) as there:
        return there.execute(sql).rowcount


def at_once(count: int, act: Callable[[int], T]) -> list[T | HubError]:
    """Run it in as many threads, which start together; a refusal is an answer too."""
    start, answers = threading.Barrier(count), dict[int, T | HubError | BaseException]()

    def run(number: int) -> None:
        try:
            start.wait()
            answers[number] = act(number)
        except BaseException as fault:
            answers[number] = fault
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told: list[T | HubError] = []
    for number in range(count):
        answer = answers[number]
        if isinstance(answer, BaseException) and not isinstance(answer, HubError):
            raise answer
        told.append(answer)
    return told
