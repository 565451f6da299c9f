"""What REST adds to the operations: credentials, bodies, statuses, headers."""

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client

from tests.calls import Caller
from tests.conftest import Cast, make_key

ACTION = {
    "class": "mail.send",
    "summary": "Send it",
    "payload": {"to": "ann@example.com"},
    "idempotency_key": "k1",
}


@pytest.fixture
def call(cast: Cast) -> Caller:
    return Caller(make_key(cast.teammate, cast.space)[1])


def error(response: HttpResponse) -> dict[str, Any]:
    body = json.loads(response.content)
    assert list(body) == ["error"]
    return body["error"]


def test_a_call_answers_the_operations_json_with_the_routes_status(call: Caller) -> None:
    response = call("POST", "actions", ACTION)
    assert response.status_code == 201
    assert json.loads(response.content)["action"]["id"] == "A1"


def test_a_repeat_that_made_nothing_new_answers_200(call: Caller) -> None:
    call("POST", "actions", ACTION)
    response = call("POST", "actions", ACTION)
    assert (response.status_code, json.loads(response.content)["created"]) == (200, False)


def test_arguments_come_from_the_path_and_the_query(call: Caller) -> None:
    call("POST", "actions", ACTION)
    assert json.loads(call("GET", "actions/A1").content)["action"]["summary"] == "Send it"
    assert len(json.loads(call("GET", "actions?status=pending&limit=5").content)["items"]) == 1
    assert error(call("GET", "actions?limit=many"))["code"] == "invalid_request"


def test_the_path_wins_over_the_body(call: Caller) -> None:
    call("POST", "actions", ACTION)
    moved = call("POST", "actions/A1/transition", {"id": "A9", "from": "pending", "to": "cancelled"})
    assert json.loads(moved.content)["action"]["id"] == "A1"


@pytest.mark.parametrize(
    ("raw", "code", "status"),
    [
        (b"{broken", "invalid_request", 400),
        (b"\xff\xfe", "invalid_request", 400),
        (b"[1]", "invalid_request", 400),
        (b'"text"', "invalid_request", 400),
        (b'{"payload": NaN}', "invalid_request", 400),
        (b"[" * 100_000, "invalid_request", 400),
        (b'{"summary": "a\\u0000b"}', "validation_failed", 422),
        (b'{"summary": "half \\ud83d"}', "validation_failed", 422),
        (b'{"summary": "' + b"x" * 1024 * 1024 + b'"}', "payload_too_large", 413),
    ],
)
def test_a_body_that_is_no_good_is_refused_in_words(call: Caller, raw: bytes, code: str, status: int) -> None:
    response = call("POST", "actions", raw=raw)
    assert (response.status_code, error(response)["code"]) == (status, code)


def test_a_body_must_say_that_it_is_json(call: Caller) -> None:
    response = call("POST", "actions", ACTION, content_type="text/plain")
    assert (response.status_code, error(response)["code"]) == (400, "invalid_request")
    assert call("POST", "actions", ACTION, content_type="application/json; charset=utf-8").status_code == 201


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eDp5"}, {"X-API-Key": ""}]
)
def test_without_a_valid_key_the_answer_says_how_to_get_in(cast: Cast, headers: dict[str, str]) -> None:
    response = Client().get("/v1/actions", headers=headers)
    assert (response.status_code, error(response)["code"]) == (401, "unauthorized")
    where = "http://testserver/.well-known/oauth-protected-resource/v1"
    assert response["WWW-Authenticate"].startswith('Bearer scope="')
    assert response["WWW-Authenticate"].endswith(f'resource_metadata="{where}"')
    assert Client().get(where.removeprefix("http://testserver")).status_code == 200


def test_a_browsers_session_is_no_credential_here(cast: Cast, client: Client) -> None:
    from accounts.models import User

    client.force_login(User.objects.get(id=cast.owner.user_id))
    assert client.post("/v1/actions", ACTION, content_type="application/json").status_code == 401


def test_a_key_works_in_x_api_key_too(call: Caller) -> None:
    assert Client().get("/v1/actions", headers={"X-API-Key": call.secret}).status_code == 200


def test_an_unknown_path_and_a_wrong_method_answer_in_the_same_shape(call: Caller) -> None:
    response = call("GET", "nothing/here")
    assert (response.status_code, error(response)["code"]) == (404, "not_found")
    assert "/v1/openapi.json" in error(response)["message"]
    response = call("DELETE", "actions/A1")
    assert (response.status_code, error(response)["code"]) == (405, "invalid_request")
    assert response["Allow"] == "GET"


def test_a_missing_thing_a_foreign_one_and_nonsense_answer_byte_for_byte_alike(
    call: Caller, cast: Cast
) -> None:
    foreign = Caller(make_key(cast.outsider_person, cast.outsider_space)[1])
    uid = json.loads(foreign("POST", "actions", ACTION).content)["action"]["uid"]
    answers = [call("GET", f"actions/{id}") for id in (uid, "act_" + "0" * 32, "A77", "nonsense")]
    assert [(a.status_code, a.content) for a in answers] == [(404, answers[0].content)] * 4


def test_the_openapi_document_lists_every_route_and_is_public() -> None:
    from memoryhub.operations.base import REGISTRY

    document = Client().get("/v1/openapi.json").json()
    described = {o["operationId"] for path in document["paths"].values() for o in path.values()}
    files = {"hub.export", "hub.import"}
    assert described == {f"{o.family}.{o.name}" for o in REGISTRY.all() if o.route} | files
    assert document["openapi"] == "3.1.0"


def test_health_needs_no_key_and_readiness_needs_a_worker(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.tasks import sweep

    monkeypatch.setattr("accounts.tasks._noted", 0.0)

    assert Client().get("/healthz").json()["ok"] is True
    assert Client().get("/readyz").status_code == 503
    sweep()
    answer = Client().get("/readyz").json()
    assert answer["checks"] == {"database": True, "worker": True, "model": True}
    assert (answer["search"], "degraded" in answer) == ("words", False)  # there is no model to wait for


def test_while_the_database_is_away_the_answer_says_to_try_again(
    call: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    from django.db import connection

    def away(*args: Any) -> None:
        raise OperationalError(" ".join(["stored", "text"]))

    with connection.execute_wrapper(away):
        response = call("GET", "actions")
    assert (response.status_code, error(response)["code"]) == (503, "unavailable")
    assert "stored text" not in caplog.text


def test_serving_with_a_key_that_everybody_knows_is_refused(settings: Any) -> None:
    from memoryhub.asgi import build_application

    settings.SECRET_KEY = settings.KNOWN_KEY
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        build_application()
