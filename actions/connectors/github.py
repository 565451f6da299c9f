"""github.create_issue: `POST /repos/{owner}/{repo}/issues`."""

import re
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field

from actions.connectors.base import (
    Ask,
    Call,
    Connector,
    Given,
    Payload,
    many_lines,
    one_line,
    read,
    refused,
    without_empty,
)

TITLE, BODY, LABEL = 256, 65_000, 50
REPOSITORY = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?)/([A-Za-z0-9._-]{1,100})")
LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
OWN_COMMENT = "<!-- memory-hub:"


class GithubIssue(Payload):
    repo: str
    title: str
    body: str = ""
    labels: list[str] = Field(default_factory=list, max_length=20)
    assignees: list[str] = Field(default_factory=list, max_length=10)


def normalise(payload: Given, zone: ZoneInfo) -> dict[str, Any]:
    given = read(GithubIssue, payload)
    members = {
        "repo": _repository(given.repo.strip()),
        "title": one_line("title", given.title, TITLE),
        "body": _body(given.body),
        "labels": [one_line(f"labels[{i}]", label, LABEL) for i, label in enumerate(given.labels)],
        "assignees": [_login(f"assignees[{i}]", login) for i, login in enumerate(given.assignees)],
    }
    return without_empty(members)


def call(payload: Given, marker: str) -> Call:
    sent = {
        "title": payload["title"],
        "body": "\n\n".join(filter(None, [payload.get("body", ""), comment(marker)])),
        "labels": payload.get("labels"),
        "assignees": payload.get("assignees"),
    }
    return Call("POST", _issues(payload), without_empty(sent))


def find(ask: Ask, payload: Given, marker: str) -> dict[str, Any] | None:
    """Among the latest issues of the repository."""
    query = {"state": "all", "sort": "created", "direction": "desc", "per_page": "100"}
    issues = ask(Call("GET", _issues(payload), query=query))["items"]
    return next((receipt(i) for i in issues if comment(marker) in (i.get("body") or "")), None)


def receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return {"number": answer["number"], "url": answer["html_url"]}


def comment(marker: str) -> str:
    """What GitHub doesn't show, and gives back: the issue is known by it."""
    return f"{OWN_COMMENT} {marker} -->"


def _issues(payload: Given) -> str:
    return f"/repos/{payload['repo']}/issues"


def _repository(given: str) -> str:
    found = REPOSITORY.fullmatch(given)
    if found is None or found[2] in (".", ".."):
        raise refused("repo", "Must be like owner/name.")
    return given


def _body(given: str) -> str:
    if OWN_COMMENT in given:
        raise refused("body", "Must not have a comment of Memory Hub's own.")
    return many_lines("body", given, BODY)


def _login(name: str, given: str) -> str:
    if not LOGIN.fullmatch(given):
        raise refused(name, "Must be a GitHub login.")
    return given


GITHUB_CREATE_ISSUE = Connector("github.create_issue", "github", "github", 1, normalise, call, find, receipt)
