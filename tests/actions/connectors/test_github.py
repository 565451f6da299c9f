from zoneinfo import ZoneInfo

import pytest

from actions.connectors.github import call, normalise
from memoryhub.common.errors import ValidationFailed

UTC = ZoneInfo("UTC")
MARKER = "act_" + "3" * 32
ISSUE = {"repo": "octo/hello.world", "title": "It breaks", "body": "On\r\nMondays"}


def test_the_body_ends_in_a_comment_that_only_readers_of_the_source_see() -> None:
    payload = normalise({**ISSUE, "labels": ["bug"], "assignees": ["octocat"]}, UTC)
    made = call(payload, MARKER)
    assert (made.method, made.path) == ("POST", "/repos/octo/hello.world/issues")
    assert made.body == {
        "title": "It breaks",
        "body": f"On\nMondays\n\n<!-- memory-hub: {MARKER} -->",
        "labels": ["bug"],
        "assignees": ["octocat"],
    }


def test_an_issue_needs_no_body() -> None:
    payload = normalise({"repo": "octo/hello", "title": " T ", "body": None}, UTC)
    assert payload == {"repo": "octo/hello", "title": "T"}
    assert call(payload, MARKER).body == {"title": "T", "body": f"<!-- memory-hub: {MARKER} -->"}
    assert normalise(payload, UTC) == payload


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"repo": "hello"}, "payload.repo"),
        ({"repo": "octo/hello/../other"}, "payload.repo"),
        ({"repo": "octo/.."}, "payload.repo"),
        ({"repo": "octo/he?llo"}, "payload.repo"),
        ({"repo": "-octo/hello"}, "payload.repo"),
        ({"title": ""}, "payload.title"),
        ({"title": "x" * 257}, "payload.title"),
        ({"title": "a\x1bb"}, "payload.title"),
        ({"body": "x" * 65_001}, "payload.body"),
        ({"body": f"<!-- memory-hub: {MARKER} -->"}, "payload.body"),
        ({"labels": ["a" * 51]}, "payload.labels[0]"),
        ({"assignees": ["a b"]}, "payload.assignees[0]"),
        ({"assignees": ["octocat\n"]}, "payload.assignees[0]"),
        ({"milestone": 1}, "payload.milestone"),
    ],
)
def test_what_github_would_not_take_is_refused_by_its_field(change: dict, named: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        normalise({**ISSUE, **change}, UTC)
    assert list(refusal.value.fields) == [named]
