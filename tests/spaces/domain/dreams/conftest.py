import pytest

from tests.conftest import Cast
from tests.spaces.domain.dreams.stage import Dreamer, dreamer_in


@pytest.fixture
def dreamer(cast: Cast, inside: None) -> Dreamer:
    return dreamer_in(cast)
