"""Made-up requests over all that the OpenAPI document describes: none is a fault of ours, and every answer is what
the document says it is."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memoryhub.rest.openapi import document
from tests.cases.hub import Agent, Hub
from tests.cases.stage import proposed
from tests.inprocess import HERE

EXAMPLES = 8
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DAY = "2026-03-02"

schema = schemathesis.openapi.from_dict(document())


@pytest.fixture
def agent(hub: Hub) -> Agent:
    return Agent(hub, "rest", hub.key("owner"))


@pytest.fixture
def places(agent: Agent) -> dict[str, dict[str, str]]:
    """By the beginning of a path, the names in it of something that is there."""
    memory = agent("remember", text="Ann likes tea")["memory"]["id"]
    record = agent("record_put", collection="leads", data={"name": "Ann"})["record"]["id"]
    agent("record_update", collection="leads", id=record, data={"size": 1})
    agent("memory_update", id=memory, subject="Ann")
    agent("journal_write", date=DAY, summary="Quiet")
    agent("kv_set", ns="prefs", key="tone", value="kind")
    return {
        "/memories": {"id": memory},
        "/collections": {"collection": "leads", "id": record},
        "/journal": {"date": DAY},
        "/kv": {"ns": "prefs", "key": "tone"},
        "/actions": {"id": proposed(agent)["id"]},
    }


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_request_is_answered_as_the_document_says(
    case: schemathesis.Case, agent: Agent, places: dict[str, dict[str, str]]
) -> None:
    """Each is sent as it was made up, and a good one again at the address of something that is there."""
    if "wait" in case.query:
        case.query["wait"] = 0
    ask(agent, case)
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    there = next((names for start, names in places.items() if case.path.startswith(start)), {})
    if known := {name: there[name] for name in case.path_parameters if name in there}:
        case.path_parameters.update(known)
        ask(agent, case)


def ask(agent: Agent, case: schemathesis.Case) -> None:
    wanted = case.as_transport_kwargs(base_url=f"{HERE}/v1", headers=agent.headers)
    sent = requests.Request(**wanted).prepare()
    assert sent.url is not None
    answer = agent.hub.app.request(str(sent.method), sent.url, content=sent.body, headers=dict(sent.headers))
    case.validate_response(answer, checks=CHECKS)
