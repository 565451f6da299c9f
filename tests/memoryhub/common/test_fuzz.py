"""Whatever is thrown at what reads text from outside, it answers in time, with a value or a refusal.

FUZZ_SECONDS is how long each target is tried in the long run; the short form takes a moment.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from accounts.domain.keys import is_well_formed
from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import HubError
from memoryhub.common.screening import reasons_to_hold
from memoryhub.common.secrets import cut, cut_text
from memoryhub.common.secrets.rules import rules
from memoryhub.common.secrets.shapes import expand
from memoryhub.common.text import check_text, parse_json
from memoryhub.common.times import parse_due, parse_time
from memoryhub.mcp.messages import parse
from memoryhub.mcp.refusals import Refused
from spaces.domain.memories.fields import PATH
from spaces.domain.search.tokens import document_words, query_words
from spaces.domain.transcripts import is_transcript

SECONDS = float(os.environ.get("FUZZ_SECONDS", "600"))
SLOWEST = 2.0
ZONE = ZoneInfo("Europe/Zurich")

TEMPLATES = [template for rule in rules() for template in (*rule.real, *rule.harmless)]
MARKS = [
    *"={}[]'\"@",
    ": ",
    "\\n",
    '\\"',
    "%3D",
    "&quot;",
    "://",
    "\u200b",
    "\ud83d",
    "é",
    "漢字",
    "password",
]
ARMOUR = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]
LONG = ["-" * 80, "# " * 40, "aes256", "a" * 300, "=" * 300, "A" * 500, "2026-03-08T02:30", "-W10-1"]
PIECES = [*TEMPLATES, *MARKS, *ARMOUR, *LONG]
TEXT = st.one_of(
    st.text(),
    st.text(st.characters(), max_size=400),
    st.lists(st.sampled_from(PIECES), max_size=12).map(lambda parts: expand("".join(parts), Random(1))),
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12)


def canonical(value: Any) -> None:
    check_text(value)
    told = canonical_json(value)
    assert canonical_json(json.loads(told)) == told


TARGETS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], object]]] = {
    "redactor": (VALUES, cut),
    "redactor of texts": (TEXT, cut_text),
    "screening": (TEXT, reasons_to_hold),
    "canonical JSON": (VALUES, canonical),
    "keys": (TEXT, is_well_formed),
    "transcripts": (TEXT, is_transcript),
    "tokenizer": (TEXT, lambda text: (list(document_words(text)), query_words(text))),
    "paths": (TEXT, PATH.fullmatch),
    "times": (TEXT, lambda text: parse_time(text, ZONE, field="at")),
    "due dates": (TEXT, lambda text: parse_due(text, ZONE, "due_at")),
    "bodies": (st.binary() | TEXT.map(lambda t: t.encode("utf-8", "surrogatepass")), parse_json),
    "MCP messages": (st.binary() | VALUES.map(lambda v: json.dumps(v).encode()), parse),
}


def thrown(name: str, **how: Any) -> None:
    strategy, target = TARGETS[name]

    @settings(
        deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate], **how
    )
    @given(strategy)
    def one(value: Any) -> None:
        began = time.thread_time()
        with suppress(HubError, Refused):
            target(value)
        assert time.thread_time() - began < SLOWEST

    one()


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_that_is_thrown_at_it_breaks_it(name: str) -> None:
    thrown(name, max_examples=60)


LINES = [mark * 3000 for mark in "-#*>|=_`~ .,:;+/\\\"'[({<aA0\t\u200b"]
BLOBS = [
    f"{start}{mark * 3000}!"
    for start in ("aes256", "v1", "sha256-", "1.", "a.", "[")
    for mark in ("a", "1", "a1", ".a")
]
KEYS = [
    f"{inside * 100}{end}"
    for inside in ("Ab0+/", "A" * 16, "\\n", "+")
    for end in ("!-----END PRIVATE KEY-----", "!")
]
READERS = [cut_text, reasons_to_hold, is_transcript, query_words, lambda text: cut({"password": text})]


@pytest.mark.parametrize("reader", READERS)
def test_no_row_of_marks_keeps_a_reader_busy(reader: Callable[[str], object]) -> None:
    """A line of dashes, a long number, a key without its beginning: what asks a pattern to try everything."""
    for text in (*LINES, *BLOBS, *KEYS):
        for said in (text, f"{text}\n" * 3, f"token = {text}", f"a{text}b"):
            began = time.thread_time()
            reader(said)
            assert time.thread_time() - began < SLOWEST, said[:40]


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_that_is_thrown_at_it_for_long_breaks_it(name: str) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        thrown(name, max_examples=2000)
