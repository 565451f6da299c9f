"""Writes an ONNX graph: nodes and constants are added one by one, then the whole becomes a model's bytes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spaces.embedding.protobuf import message, repeated

IR_VERSION = 8
OPSET = 17
FLOAT = 1
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.int64): 7}
ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_INTS = 1, 2, 7

Attribute = int | float | list[int]
Shape = list[int | str]


@dataclass
class Graph:
    nodes: list[bytes] = field(default_factory=list)
    constants: dict[str, bytes] = field(default_factory=dict)

    def add(self, operator: str, inputs: list[str], *outputs: str, **attributes: Attribute) -> str:
        """A node; answers the name of its first output."""
        self.nodes.append(
            message(
                *repeated(1, inputs),
                *repeated(2, outputs),
                (4, operator),
                *repeated(5, [_attribute(name, value) for name, value in attributes.items()]),
            )
        )
        return outputs[0]

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        kind = KINDS[values.dtype]
        raw = np.ascontiguousarray(values).tobytes()
        self.constants[name] = message(*repeated(1, values.shape), (2, kind), (8, name), (9, raw))
        return name

    def numbers(self, *values: int) -> str:
        """A constant vector of integers."""
        name = "_".join(["numbers", *map(str, values)])
        return self.constant(name, np.array(values, np.int64))

    def model(self, input: tuple[str, Shape], output: tuple[str, Shape]) -> bytes:
        """One input and one output, both of floats; a name in a shape is a length that varies."""
        graph = message(
            *repeated(1, self.nodes),
            (2, "encoder"),
            *repeated(5, self.constants.values()),
            (11, _value(*input)),
            (12, _value(*output)),
        )
        return message((1, IR_VERSION), (7, graph), (8, message((1, ""), (2, OPSET))))


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, list):
        return message((1, name), *repeated(8, value), (20, ATTRIBUTE_INTS))
    if isinstance(value, float):
        return message((1, name), (2, value), (20, ATTRIBUTE_FLOAT))
    return message((1, name), (3, value), (20, ATTRIBUTE_INT))


def _value(name: str, shape: Shape) -> bytes:
    dimensions = [message((2 if isinstance(length, str) else 1, length)) for length in shape]
    tensor = message((1, FLOAT), (2, message(*repeated(1, dimensions))))
    return message((1, name), (2, message((1, tensor))))
