"""A kind that is added later is exported, imported and forgotten without a word about it anywhere else."""

import dataclasses
import io
import json
import zipfile
from collections.abc import Iterator, Sequence

import pytest

from accounts.actor import Actor
from memoryhub.common.ids import ID_PREFIXES, new_id, typed_id
from memoryhub.flows.forgetting import forget
from memoryhub.flows.importing import import_file
from spaces.domain import kinds
from spaces.domain.kinds import (
    Arrival,
    Forgetting,
    Forgotten,
    Hit,
    Kind,
    Outcome,
    Row,
    Selection,
    register_kind,
)
from spaces.domain.spaces import create_space
from spaces.models import Space
from tests.conftest import Cast
from tests.memoryhub.flows.leaving import exported

pytestmark = pytest.mark.usefixtures("inside")

POEM = "por"


@dataclasses.dataclass
class Shelf:
    """Poems by space, for want of a table."""

    poems: dict[object, dict[str, Row]] = dataclasses.field(default_factory=dict)

    def of(self, space: Space | None) -> dict[str, Row]:
        return self.poems.setdefault(space.id if space else None, {})

    def export(self, actor: Actor, space: Space | None) -> Iterator[Row]:
        yield from self.of(space).values()

    def arrive(self, arrival: Arrival, rows: Sequence[Row]) -> list[Outcome]:
        here = self.of(arrival.space)
        outcomes = [Outcome.SAME if row["text"] in here else Outcome.NEW for row in rows]
        here.update({row["text"]: row for row in rows})
        return outcomes

    def find(self, actor: Actor, selection: Selection) -> list[Hit]:
        return [Hit(new_id(), text) for text in self.of(selection.space) if selection.query in text]

    def erase(self, actor: Actor, selection: Selection, hits: Sequence[Hit]) -> Forgotten:
        for hit in hits:
            del self.of(selection.space)[hit.sample]
        return Forgotten(deleted=len(hits))


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    shelf = Shelf()
    monkeypatch.setitem(ID_PREFIXES, POEM, "poem")
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    register_kind(
        Kind(
            prefix=POEM,
            model_label="spaces.Memory",
            export=shelf.export,
            arrive=shelf.arrive,
            forgetting=Forgetting(scope="poems", find=shelf.find, erase=shelf.erase),
        )
    )
    return shelf


def test_a_kind_added_later_leaves_arrives_and_is_forgotten(cast: Cast, shelf: Shelf) -> None:
    elsewhere = create_space(cast.owner, name="Elsewhere")
    shelf.of(cast.space)["roses"] = {"id": typed_id(POEM, new_id()), "text": "roses"}
    content = exported(cast.owner, "main")
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert [json.loads(line)["text"] for line in archive.read("poems.jsonl").splitlines()] == ["roses"]
    assert "## Poems" in archive.read("memory.md").decode()
    report = import_file(cast.owner, io.BytesIO(content), space=elsewhere.id)
    assert report.counts["poem"] == {Outcome.NEW: 1}
    assert list(shelf.of(elsewhere)) == ["roses"]
    reached = forget(cast.owner.in_space(elsewhere.slug), query="roses", scopes=["poems"])
    assert (len(reached["poems"].hits), shelf.of(elsewhere)) == (1, {})
