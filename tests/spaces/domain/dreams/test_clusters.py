"""Near-identical memories, without a model: what is one, what is not, and that nothing is lost by merging."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from memoryhub.common.errors import InvalidTransition
from memoryhub.common.ids import new_id
from memoryhub.common.tenancy import tenant
from spaces.domain.dreams.clustering import cluster_space, is_time
from spaces.domain.dreams.clusters import Statement, find_clusters
from spaces.domain.dreams.grounding import Said
from spaces.domain.dreams.settling import decide
from spaces.domain.dreams.undoing import undo
from spaces.domain.spaces import Settings, update_space
from spaces.models import DreamRun, Memory
from tests.calls import call
from tests.conftest import Cast
from tests.spaces.domain.dreams.stage import Dreamer, dreamer_in, everything

LONG = (
    "Caroline went to the support group in May 2023 and felt that people there listened to her, "
    "which gave her courage"
)
SAME = [
    (LONG, LONG.replace("courage", "courage again")),
    (LONG, LONG.replace(", which", " which") + "!"),
    (
        "Thanks, Nate! Your support is greatly appreciated",
        "Thanks Nate! Your support is greatly appreciated.",
    ),
    (
        "デプロイの時間は火曜日の午後二時からで担当は運用チームです",
        "デプロイの時間は火曜日の午後二時からで担当は運用チームです！",
    ),
]
OTHER = [
    (LONG, LONG.replace("2023", "2022")),
    (LONG, LONG.replace("May", "June")),
    (LONG, LONG.replace("Caroline", "Melanie")),
    (LONG, LONG.replace("people there listened", "people there never listened")),
    (LONG, LONG.replace("felt that", "felt that Melanie and")),
    ("The gate is in C# and C++", "The gate is in C and C++"),
    ("Deploy on Tuesday", "Do not deploy on Tuesday"),
    ("Bye!", "Bye."),
    ("部署窗口是周二下午两点开始由运维团队负责", "部署窗口是周三下午两点开始由运维团队负责"),
]  # fmt: skip


def said(*texts: str, place: tuple[str, ...] = ("fact",)) -> list[Statement]:
    return [Statement(new_id(), text, place) for text in texts]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_are_near_identical(one: str, other: str) -> None:
    (cluster,) = find_clusters(said(one, other))
    assert {member.text for member in cluster.members} == {one, other}


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_these_are_not(one: str, other: str) -> None:
    assert find_clusters(said(one, other)) == []


def test_only_what_is_in_one_place_is_compared() -> None:
    assert find_clusters([*said(LONG), *said(f"{LONG}!", place=("question",))]) == []


def test_what_the_user_said_is_what_stays_and_two_of_them_are_left_apart() -> None:
    longer = Statement(new_id(), f"{LONG} too", ("fact",))
    users = Statement(new_id(), LONG, ("fact",), said_by_user=True)
    another = Statement(new_id(), f"{LONG}!", ("fact",), said_by_user=True)
    (cluster,) = find_clusters([longer, users, another])
    assert (cluster.keep.said_by_user, [other.text for other in cluster.others]) == (True, [longer.text])


def test_order_makes_no_difference_and_groups_have_eight_at_most() -> None:
    statements = said(*(f"{LONG} {'!' * n}" for n in range(20)))
    shuffled = statements[:]
    Random(1).shuffle(shuffled)
    found = find_clusters(statements)
    assert found == find_clusters(shuffled)
    assert [len(cluster.members) for cluster in found] == [8, 8, 4]


SPEAKERS = ("Caroline", "Melanie", "Nate", "Joanna", "Tim", "John")
DEEDS = (
    "told {other} about the {thing} that took place in {place} on {day} {month} {year}",
    "has been working on the {thing} for {n} years and wants to show it to {other} in {place}",
    "did not go to the {thing} in {place}, because {other} was ill for {n} days in {month} {year}",
)


def conversation(count: int) -> list[str]:
    """Observations as they are drawn from long conversations: many alike, few the same, some said again."""
    random = Random(20)
    texts: list[str] = []
    while len(texts) < count:
        speaker, other = random.sample(SPEAKERS, 2)
        text = f"{speaker} " + random.choice(DEEDS).format(
            other=other,
            thing=random.choice(("pottery class", "charity race", "poetry reading", "adoption interview")),
            place=random.choice(("Porto", "Boston", "Osaka")),
            day=random.randint(1, 28),
            month=random.choice(("May", "June", "July")),
            year=random.choice((2022, 2023)),
            n=random.randint(2, 9),
        )
        texts += [text, *([f"{text}, as was said"] if random.random() < 0.2 else [])]
    return texts[:count]


def test_merging_loses_no_number_date_or_name_of_a_conversation() -> None:
    found = find_clusters(said(*conversation(1_500)))
    assert len(found) > 20
    for cluster in found:
        kept = Said((cluster.keep.text,))
        for other in cluster.others:
            lost = Said((other.text,))
            assert lost.numbers <= kept.numbers
            assert lost.days <= kept.days
            assert {t.folded for t in lost.tokens if t.looks_named} <= {t.folded for t in kept.tokens}
            assert lost.denies == kept.denies


@pytest.mark.django_db
class TestASpace:
    pytestmark = pytest.mark.django_db

    def consolidate(self, cast: Cast) -> DreamRun | None:
        return cluster_space(cast.account.id, cast.space.id)

    def tell(self, dreamer: Dreamer) -> None:
        for text in (LONG, f"{LONG} again", "Something else entirely is said here"):
            dreamer.remembers(text)

    def test_where_dreams_are_off_they_wait_for_a_person(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            self.tell(dreamer_in(cast, dream_mode="off"))
            before = everything()
        run = self.consolidate(cast)
        assert run is not None
        with tenant(cast.account.id):
            assert (run.status, everything()) == ("review", before)
            again = self.consolidate(cast)
            assert again is not None
            assert (again.id, again.version) == (run.id, run.version)
            decided = decide(cast.owner, run.id, [0])
            assert decided.status == "applied"
            (made,) = Memory.objects.filter(status="active", text=f"{LONG} again")
            assert (made.trust, made.origin) == ("agent", "agent")

    def test_where_dreams_are_on_they_are_merged_and_a_second_time_changes_nothing(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            dreamer = dreamer_in(cast)
            self.tell(dreamer)
        run = self.consolidate(cast)
        assert run is not None
        assert run.status == "applied"
        with tenant(cast.account.id):
            after = everything()
        assert self.consolidate(cast) is None
        with tenant(cast.account.id):
            assert everything() == after
            assert dreamer.undoes(f"run_{run.id.hex}")["conflicts"] == []

    def test_what_nobody_decides_on_gives_way_to_what_is_so_the_next_day(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            dreamer = dreamer_in(cast, dream_mode="off")
            self.tell(dreamer)
        first = self.consolidate(cast)
        with tenant(cast.account.id):
            dreamer.remembers(f"{LONG} again and again")
        second = self.consolidate(cast)
        assert first
        assert second
        with tenant(cast.account.id):
            assert [r.status for r in DreamRun.objects.order_by("created_at", "id")] == ["expired", "review"]
            assert [(c.state, c.code) for c in first.changes.all()] == [("declined", "withdrawn")]
            assert len(second.changes.get().memories) == 3
            with pytest.raises(InvalidTransition):
                decide(cast.owner, first.id, [0])

    def test_what_nobody_decides_on_keeps_no_dream_from_beginning(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            dreamer = dreamer_in(cast, dream_review=True)
            dreamer.fills()
            self.tell(dreamer)
        waiting = self.consolidate(cast)
        assert waiting is not None
        with tenant(cast.account.id):
            assert waiting.status == "review"
            assert call(cast.agent, "dream_next_job")["job"] is not None
            waiting.refresh_from_db()
            assert waiting.status == "expired"

    @pytest.mark.parametrize("verdict", ["declined", "undone"])
    def test_what_a_person_has_said_no_to_is_not_proposed_again(self, cast: Cast, verdict: str) -> None:
        with tenant(cast.account.id):
            self.tell(dreamer_in(cast, dream_mode="off"))
        run = self.consolidate(cast)
        assert run is not None
        with tenant(cast.account.id):
            decide(cast.owner, run.id, [] if verdict == "declined" else [0])
            if verdict == "undone":
                undo(cast.owner, run.id)
        assert self.consolidate(cast) is None
        with tenant(cast.account.id):
            assert not DreamRun.objects.open().exists()

    def test_pinned_memories_are_left_alone(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            dreamer = dreamer_in(cast)
            dreamer.remembers(LONG, pinned=True)
            dreamer.remembers(f"{LONG} again")
        assert self.consolidate(cast) is None

    def test_an_open_dream_is_not_disturbed(self, cast: Cast) -> None:
        with tenant(cast.account.id):
            dreamer = dreamer_in(cast)
            dreamer.fills()
            self.tell(dreamer)
            job = dreamer.job()
        assert self.consolidate(cast) is None
        with tenant(cast.account.id):
            update_space(cast.owner, Settings(dream_review=False), space=cast.space.id)
            assert call(cast.agent, "dream_run", id=job["run_id"])["status"] == "awaiting_result"


def test_it_is_time_once_a_day_at_half_past_three() -> None:
    morning = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
    assert is_time(None, morning)
    assert is_time(morning - timedelta(minutes=1), morning)
    assert not is_time(morning, morning + timedelta(hours=23))
    assert is_time(morning, morning + timedelta(days=1))
    assert is_time(morning - timedelta(days=2), morning - timedelta(hours=1))
