"""The page of dreams: what each did, deciding on what waits, and taking it back."""

import re

import pytest

from memoryhub.common.ids import parse_id
from memoryhub.common.tenancy import tenant
from spaces.models import DreamRun, Space
from tests.calls import call
from tests.conftest import Cast
from tests.pages import SPACE, browser_of, text_of
from tests.spaces.domain.dreams.stage import Dreamer, dreamer_in, everything, row

pytestmark = pytest.mark.django_db

MERGED = "The deploy window is Tuesday 14:00 UTC"
BAD = "<img src=x onerror=alert(1)>"


def dreaming(cast: Cast, **settings: object) -> Dreamer:
    with tenant(cast.account.id):
        return dreamer_in(cast, **settings)


def dreamt(dreamer: Dreamer) -> tuple[str, list[str]]:
    with tenant(dreamer.cast.account.id):
        ids = dreamer.fills()
        report = dreamer.dreams(
            {"op": "merge", "ids": ids[:2], "text": MERGED, "reason": f"said twice {BAD}"},
            {"op": "retier", "id": ids[2], "tier": "core"},
            {"op": "drop", "id": "mem_x"},
            notes=BAD,
        )
    return report["run_id"], ids


def test_an_empty_page_says_what_dreams_are_for(cast: Cast) -> None:
    page = text_of(browser_of(cast.viewer).get(f"{SPACE}/dreams/"))
    assert "No dreams yet" in page
    assert 'name="mode"' not in page


def test_who_manages_the_space_says_how_it_dreams(cast: Cast) -> None:
    browser = browser_of(cast.admin)
    answer = browser.post(f"{SPACE}/dreams/", {"mode": "server", "hours": "12", "review": "on"})
    assert answer.status_code == 302
    with tenant(cast.account.id):
        space = Space.objects.get(id=cast.space.id)
    assert (space.dream_mode, space.dream_review, space.dream_hours) == ("server", True, 12)
    refused = browser.post(f"{SPACE}/dreams/", {"mode": "server", "hours": "1"})
    assert refused.status_code == 422
    assert (
        browser_of(cast.teammate).post(f"{SPACE}/dreams/", {"mode": "off", "hours": "24"}).status_code == 403
    )


def test_a_run_shows_each_change_word_by_word_with_its_reason(cast: Cast) -> None:
    run_id, _ids = dreamt(dreaming(cast))
    browser = browser_of(cast.viewer)
    assert run_id in text_of(browser.get(f"{SPACE}/dreams/"))
    page = text_of(browser.get(f"{SPACE}/dreams/{run_id}/"))
    assert "<del>" in page
    assert "<ins>core</ins>" in page
    assert "It names a memory that is not in this run&#x27;s input" in page
    assert "said twice" in page
    assert "<img src=x" not in page


def test_what_waits_is_accepted_one_by_one(cast: Cast) -> None:
    dreamer = dreaming(cast, dream_review=True)
    with tenant(cast.account.id):
        before = everything() or None
    run_id, ids = dreamt(dreamer)
    browser = browser_of(cast.teammate)
    page = text_of(browser.get(f"{SPACE}/dreams/{run_id}/"))
    assert page.count('name="accept"') == 2
    assert "keeps to the rules" in page
    assert before is None
    answer = browser.post(f"{SPACE}/dreams/{run_id}/review/", {"accept": ["1"]})
    assert answer.status_code == 302
    with tenant(cast.account.id):
        run = DreamRun.objects.get(id=parse_id("run", run_id))
        states = dict(run.changes.values_list("number", "state"))
        assert (run.status, run.decided_by) == ("applied", cast.teammate.key)
        assert states == {0: "declined", 1: "applied", 2: "skipped"}
        assert (row(ids[0]).status, row(ids[2]).tier) == ("active", "core")


def test_all_that_waits_can_be_declined(cast: Cast) -> None:
    run_id, _ids = dreamt(dreaming(cast, dream_review=True))
    browser_of(cast.teammate).post(
        f"{SPACE}/dreams/{run_id}/review/", {"accept": ["0", "1"], "decline": "all"}
    )
    with tenant(cast.account.id):
        assert DreamRun.objects.get().status == "rejected"


def test_what_changed_while_it_waited_is_stale(cast: Cast) -> None:
    run_id, ids = dreamt(dreaming(cast, dream_review=True))
    with tenant(cast.account.id):
        call(cast.agent, "memory_update", id=ids[0], text="We deploy on Monday")
        call(cast.agent, "memory_update", id=ids[2], pinned=True)
    browser_of(cast.teammate).post(f"{SPACE}/dreams/{run_id}/review/", {"accept": ["0", "1"]})
    with tenant(cast.account.id):
        run = DreamRun.objects.get()
        assert run.status == "no_changes"
        assert list(run.changes.order_by("number").values_list("code", flat=True)) == ["stale"] * 3


def test_an_undo_is_shown_before_it_is_done(cast: Cast) -> None:
    run_id, ids = dreamt(dreaming(cast))
    with tenant(cast.account.id):
        call(cast.agent, "memory_update", id=ids[2], text="Ana leads billing and support")
    browser = browser_of(cast.teammate)
    page = text_of(browser.get(f"{SPACE}/dreams/{run_id}/?undo=preview"))
    assert "2 memories are again as they were" in page
    assert "It was changed since the dream, and stays as it is." in page
    assert browser.post(f"{SPACE}/dreams/{run_id}/undo/").status_code == 302
    with tenant(cast.account.id):
        assert (row(ids[0]).status, row(ids[2]).text) == ("active", "Ana leads billing and support")
    after = text_of(browser.get(f"{SPACE}/dreams/{run_id}/"))
    assert "Left as they were when this was undone" in after
    again = browser.post(f"{SPACE}/dreams/{run_id}/undo/", follow=True)
    assert "Only a run that was applied can be undone." in text_of(again)


def test_a_dream_is_started_by_hand_and_then_is_open(cast: Cast) -> None:
    dreamer = dreaming(cast)
    with tenant(cast.account.id):
        dreamer.fills()
    browser = browser_of(cast.teammate)
    assert "Dream now" in text_of(browser.get(f"{SPACE}/dreams/"))
    started = browser.post(f"{SPACE}/dreams/start/")
    assert "an agent thinks" in text_of(browser.get(started["Location"]))
    assert browser.post(f"{SPACE}/dreams/start/")["Location"] == started["Location"]


def test_what_keeps_a_dream_from_beginning_is_said(cast: Cast) -> None:
    dreaming(cast)
    browser = browser_of(cast.teammate)
    page = text_of(browser.post(f"{SPACE}/dreams/start/", follow=True))
    assert "Nothing is remembered here" in page


def test_an_undo_says_how_long_it_is_still_possible(cast: Cast) -> None:
    run_id, _ids = dreamt(dreaming(cast))
    page = text_of(browser_of(cast.viewer).get(f"{SPACE}/dreams/{run_id}/"))
    assert re.search(r'role="timer" data-until="[^"]+">6\sdays, 23\shours</b> left', page)


def test_a_viewer_decides_and_undoes_nothing(cast: Cast) -> None:
    run_id, _ids = dreamt(dreaming(cast, dream_review=True))
    viewer = browser_of(cast.viewer)
    assert viewer.get(f"{SPACE}/dreams/{run_id}/").status_code == 200
    assert viewer.post(f"{SPACE}/dreams/{run_id}/review/", {"accept": ["0"]}).status_code == 403
    assert viewer.post(f"{SPACE}/dreams/{run_id}/undo/").status_code == 403
