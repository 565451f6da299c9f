import pytest

from actions.domain.comparison import last_like
from tests.actions.stage import approve, proposed
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")


def test_an_action_is_compared_with_the_last_one_of_its_class_that_was_agreed_to(cast: Cast) -> None:
    first, second = proposed(cast), proposed(cast)
    approve(cast.approver, first)
    approve(cast.approver, second)
    proposed(cast)  # never decided on
    approve(cast.approver, proposed(cast, class_name="other"))
    like = last_like(proposed(cast))
    assert like is not None
    assert like.short_id == second.short_id


def test_the_first_of_its_class_is_compared_with_nothing(cast: Cast) -> None:
    approve(cast.approver, proposed(cast, class_name="other"))
    assert last_like(proposed(cast)) is None
