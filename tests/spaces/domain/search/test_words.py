from typing import Any

import pytest
from django.utils import timezone

from accounts.actor import Actor
from spaces.domain.search.indexing import index_fields
from spaces.domain.search.words import search_words
from spaces.models import Memory, Space
from tests.conftest import Cast


def remember(actor: Actor, space: Space | None, text: str, **fields: Any) -> Memory:
    now = timezone.now()
    memory = Memory(
        account_id=actor.account_id,
        space=space,
        text=text,
        written_by=actor.key,
        identity=text.encode()[:32],
        **{"occurred_at": now, "last_seen_at": now, "created_at": now, "updated_at": now, **fields},
    )
    for name, value in index_fields(memory, space).items():
        setattr(memory, name, value)
    memory.save(force_insert=True)
    return memory


@pytest.mark.usefixtures("inside")
def test_a_question_finds_the_fact_that_answers_it(cast: Cast) -> None:
    m = remember(cast.agent, cast.space, "Deploy window is Tuesday 14:00 UTC")
    remember(cast.agent, cast.space, "Nothing of it")
    f = search_words(cast.agent, "why did we choose the deploy window")
    assert [x.id for x in f.matches] == [m.id]
