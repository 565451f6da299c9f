import uuid

import pytest

from memoryhub.common.errors import NotFound
from memoryhub.common.ids import ID_PREFIXES, new_id, parse_id, typed_id

ID = uuid.UUID("01982f6e-8c4d-7a3b-9f10-0123456789ab")


def test_a_new_id_is_a_version_seven_uuid_of_the_standard_library() -> None:
    made = new_id()
    assert type(made) is uuid.UUID
    assert made.version == 7


def test_ids_made_one_after_another_ascend() -> None:
    made = [new_id() for _ in range(2000)]
    assert made == sorted(set(made))


@pytest.mark.parametrize("prefix", ID_PREFIXES)
def test_a_typed_id_reads_back_as_its_uuid(prefix: str) -> None:
    assert parse_id(prefix, typed_id(prefix, ID)) == ID


def test_a_typed_id_is_its_prefix_and_thirty_two_hex_digits() -> None:
    assert typed_id("mem", ID) == "mem_01982f6e8c4d7a3b9f100123456789ab"


@pytest.mark.parametrize("text", [str(ID), ID.hex, str(ID).upper(), ID])
def test_a_bare_uuid_is_accepted(text: object) -> None:
    assert parse_id("mem", text) == ID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "mem_",
        "mem_123",
        f"sum_{ID.hex}",
        f"mem_mem_{ID.hex}",
        f"{{{ID}}}",
        f"urn:uuid:{ID}",
        f" {ID}",
        f"{ID}\n",
        f"{ID.hex}0",
        ID.hex.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
        "\ud83d",
        "x" * 100_000,
        None,
        7,
        [],
    ],
)
def test_what_cannot_be_an_id_is_answered_like_an_unknown_one(text: object) -> None:
    with pytest.raises(NotFound) as refusal:
        parse_id("mem", text)
    assert refusal.value.body() == NotFound("memory").body()
