"""As much of the protobuf wire format as writing a model needs.

Writing the bytes here, rather than with a library, makes them the same whatever is installed; so that their digest
can be checked.
"""

import struct
from collections.abc import Iterable

VARINT, LENGTH, FIXED32 = 0, 2, 5

Value = int | float | str | bytes


def message(*fields: tuple[int, Value]) -> bytes:
    """The fields in this order, as (number, value): int a varint, float a 32-bit float, text and bytes with length."""
    return b"".join(_field(number, value) for number, value in fields)


def repeated(number: int, values: Iterable[Value]) -> list[tuple[int, Value]]:
    return [(number, value) for value in values]


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | FIXED32) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | LENGTH) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
