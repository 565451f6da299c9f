from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryhub.common.canonical import canonical_json
from memoryhub.common.errors import NotFound, PayloadTooLarge, ReservedNamespace, ValidationFailed
from spaces.domain.spaces import create_space
from spaces.domain.values import access_value, list_namespaces, read_values, set_value
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("inside")

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
SCALARS = st.none() | st.booleans() | st.integers(-(10**40), 10**40) | TEXT
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    SCALARS | NUMBERS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(value=JSON, key=TEXT.filter(bool))
def test_any_json_under_any_key_comes_back_as_it_was_set(cast: Cast, value: Any, key: str) -> None:
    set_value(cast.agent, "n", key, value)
    assert canonical_json(access_value(cast.agent, "n", key).value) == canonical_json(value)


def test_namespaces_are_counted(cast: Cast) -> None:
    for namespace, key in (("b", "k"), ("a", "k"), ("a", "l")):
        set_value(cast.agent, namespace, key, 1)
    assert [(n.namespace, n.keys) for n in list_namespaces(cast.agent)] == [("a", 2), ("b", 1)]


def test_values_of_several_namespaces_come_in_the_order_asked_for(cast: Cast) -> None:
    for namespace, key in (("a", "k"), ("b", "l"), ("b", "k"), ("c", "k")):
        set_value(cast.agent, namespace, key, 1)
    found = read_values(cast.agent, cast.space, ["b", "a", "b", "none"])
    assert [(v.namespace, v.key) for v in found] == [("b", "k"), ("b", "l"), ("a", "k")]
    assert len(read_values(cast.agent, cast.space, ["b", "a"], limit=2)) == 2


def test_a_value_belongs_to_its_space(cast: Cast) -> None:
    create_space(cast.owner, name="Other")
    set_value(cast.owner, "n", "k", 1, space="other")
    with pytest.raises(NotFound):
        access_value(cast.agent, "n", "k")
    assert access_value(cast.agent, "n", "k", space="other").value == 1


def test_callers_that_no_schema_has_checked_keep_to_the_limits_too(cast: Cast) -> None:
    for namespace, key, value, refusal in (
        ("_n", "k", 1, ReservedNamespace),
        ("N", "k", 1, ValidationFailed),
        ("n", "k" * 129, 1, ValidationFailed),
        ("n", "a\0", 1, ValidationFailed),
        ("n", "", 1, ValidationFailed),
        ("n", "k", "a\0", ValidationFailed),
        ("n", "k", "x" * 65_536, PayloadTooLarge),
    ):
        with pytest.raises(refusal):
            set_value(cast.agent, namespace, key, value)
