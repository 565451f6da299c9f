from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spaces.domain.kinds import Selection
from spaces.domain.memories import remember
from spaces.domain.memories.fields import told
from spaces.domain.memory_kind import SAID, find
from spaces.domain.phrases import texts_in
from spaces.domain.search.holding import may_hold
from spaces.domain.search.tokens import every_word, holds_all_words
from spaces.models import Memory
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")

WORDS = [
    "deploy", "deployed", "the", "not", "Acme", "acme-2", "BENCH-100821", "src/billing/invoice_utils.py", "C++",
    "getUserById", "v1.2.10", "ann@example.com", "Zürich", "zurich", "部署窗口", "火曜日", "👍", "1,000", "a.b",
]  # fmt: skip
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
statements = st.fixed_dictionaries(
    {"text": phrases},
    optional={
        "subject": phrases,
        "tags": st.lists(st.sampled_from(WORDS), max_size=2),
        "topics": st.lists(phrases, max_size=2),
        "source_ref": phrases,
        "decided_by": phrases,
        "metadata": st.dictionaries(st.sampled_from(WORDS), phrases, max_size=1),
        "links": st.lists(st.fixed_dictionaries({"title": phrases}), max_size=1),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(made=st.lists(statements, min_size=1, max_size=4), query=phrases)
def test_what_the_index_rules_out_does_not_hold_the_words(
    cast: Cast, made: list[dict[str, Any]], query: str
) -> None:
    with transaction.atomic():
        for statement in made:
            remember(cast.agent, **statement)
        words = every_word(query)
        holding = {
            memory.id
            for memory in Memory.objects.all()
            if holds_all_words(words, *texts_in([told(memory)[name] for name in SAID]))
        }
        assert {hit.id for hit in find(cast.agent, Selection(cast.space, query=query))} == holding
        transaction.set_rollback(True)


def test_a_plain_memory_without_the_word_is_not_even_looked_at(cast: Cast) -> None:
    remember(cast.agent, text="Ana lives in Porto")
    acme = remember(cast.agent, text="Acme is in Berlin").memory
    assert list(may_hold(Memory.objects.all(), every_word("acme"))) == [acme]


def test_a_word_at_the_end_of_a_text_too_long_for_the_index_is_found(cast: Cast) -> None:
    text = "".join(chr(0x4E00 + n) for n in range(15_000)) + " quetzalcoatl"
    memory = remember(cast.agent, text=text).memory
    [hit] = find(cast.agent, Selection(cast.space, query="quetzalcoatl"))
    assert hit.id == memory.id


def test_a_memory_whose_index_is_of_an_older_version_is_looked_at(cast: Cast) -> None:
    memory = remember(cast.agent, text="Acme is in Berlin").memory
    Memory.objects.filter(id=memory.id).update(search_vector=None, search_version=0)
    [hit] = find(cast.agent, Selection(cast.space, query="acme"))
    assert hit.id == memory.id
