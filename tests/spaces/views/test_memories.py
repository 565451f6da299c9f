"""What the page of memories says while another model for search by meaning is being introduced."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from memoryhub.web.admin import ACCOUNT_KEY
from spaces.domain.embeddings.adopting import adopt_configured
from spaces.domain.embeddings.changing import finish_change
from spaces.domain.embeddings.working import embed_batch
from spaces.models import EmbeddingModel
from tests.conftest import Cast
from tests.embeddings import FakeServer, serving
from tests.pages import SPACE, browser_of, text_of
from tests.spaces.domain.embeddings.conftest import configure, fake, model
from tests.spaces.domain.embeddings.writing import embed_all, write

__all__ = ["fake", "model"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def half_way(cast: Cast, model: EmbeddingModel, settings: Settings) -> Iterator[FakeServer]:
    """A hundred memories, sixty-four of which the new model has read."""
    write(cast.agent, cast.space, *[f"Fact {i}" for i in range(100)])
    write(cast.outsider, cast.outsider_space, "Another team's fact")
    embed_all()
    with serving(model="newer-model", salt="newer") as other:
        configure(settings, other)
        adopt_configured()
        embed_batch()
        yield other


def note_of(client: Client, address: str) -> str:
    shown = re.search(r'<div class="coming">.*?</div>', text_of(client.get(address)), re.DOTALL)
    return shown[0] if shown else ""


def test_a_change_of_models_shows_how_far_it_is_and_is_gone_when_it_is_through(
    cast: Cast, half_way: FakeServer
) -> None:
    note = note_of(browser_of(cast.owner), f"{SPACE}/memories/")
    assert '<progress max="100" value="64"' in note
    assert "newer-model: 64 of 100" in note
    embed_all()
    assert finish_change()
    assert note_of(browser_of(cast.owner), f"{SPACE}/memories/") == ""


def test_a_new_model_that_does_not_answer_is_told(cast: Cast, half_way: FakeServer) -> None:
    EmbeddingModel.objects.filter(state="building").update(trouble="unavailable")
    assert "is waited for" in note_of(browser_of(cast.owner), f"{SPACE}/memories/")


def test_staff_see_how_far_each_model_is_in_the_chosen_account(cast: Cast, half_way: FakeServer) -> None:
    User.objects.filter(id=cast.owner.user_id).update(is_staff=True, is_superuser=True)
    client = browser_of(cast.owner)
    session = client.session
    session[ACCOUNT_KEY] = str(cast.account.id)
    session.save()
    shown = text_of(client.get("/admin/spaces/embeddingmodel/"))
    assert "64 of 100 (64%)" in shown
    assert "100 of 100 (100%)" in shown
    assert re.search(r'class="field-left">[12]<', shown)
