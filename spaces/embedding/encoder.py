"""The network of multilingual-e5-small as an ONNX graph, with matrices of small integers.

It reads the vectors of one text's words and answers the mean over what comes out for them. Words' vectors are
looked up outside, in a file that is mapped into memory rather than loaded.
"""

import numpy as np
from numpy.typing import NDArray

from spaces.embedding.onnx import Graph
from spaces.embedding.weights import Floats, Weights

INPUT = "words"
OUTPUT = "mean"
# Seven bits: sums of two products fit 16 bits, so every kind of processor computes the same.
LARGEST = 63


def encoder_model(weights: Weights) -> bytes:
    graph = Graph()
    width = weights.width
    hidden = _with_positions(graph, weights)
    for layer in range(weights.layers):
        hidden = _Layer(graph, weights, layer).add(hidden)
    graph.add("ReduceMean", [hidden], OUTPUT, axes=[1], keepdims=0)
    return graph.model((INPUT, [1, "length", width]), (OUTPUT, [1, width]))


def _with_positions(graph: Graph, weights: Weights) -> str:
    kinds = weights.vector("emb.type").reshape(-1, weights.width)
    positions = weights.vector("emb.pos").reshape(-1, weights.width) + kinds[0]
    graph.constant("positions", positions)
    graph.add("Shape", [INPUT], "shape")
    length = graph.add("Gather", ["shape", graph.numbers(1)], "length", axis=0)
    zero = graph.numbers(0)
    used = graph.add("Slice", ["positions", zero, length, zero], "positions_used")
    placed = graph.add("Add", [INPUT, used], "placed")
    return _normalised(graph, weights, placed, "emb.ln")


def _normalised(graph: Graph, weights: Weights, values: str, name: str) -> str:
    scale = graph.constant(f"{name}.w", weights.vector(f"{name}.w"))
    shift = graph.constant(f"{name}.b", weights.vector(f"{name}.b"))
    inputs = [values, scale, shift]
    return graph.add("LayerNormalization", inputs, name, axis=-1, epsilon=weights.epsilon)


class _Layer:
    def __init__(self, graph: Graph, weights: Weights, number: int) -> None:
        self.graph = graph
        self.weights = weights
        self.name = f"l{number}"

    def add(self, hidden: str) -> str:
        attended = self._linear(self._attention(hidden), ["ao"], self.weights.width)
        hidden = self._added(attended, hidden, "aln")
        inner = self._gelu(self._linear(hidden, ["fi"], self.weights.width))
        return self._added(self._linear(inner, ["fo"], self.weights.inner), hidden, "oln")

    def _added(self, values: str, before: str, norm: str) -> str:
        total = self.graph.add("Add", [values, before], f"{self.name}.{norm}.sum")
        return _normalised(self.graph, self.weights, total, f"{self.name}.{norm}")

    def _attention(self, hidden: str) -> str:
        graph, name, heads = self.graph, self.name, self.weights.heads
        joint = self._linear(hidden, ["q", "k", "v"], self.weights.width)
        shape = graph.numbers(0, 0, 3 * heads, self.weights.width // heads)
        by_head = graph.add("Reshape", [joint, shape], f"{name}.heads")
        turned = graph.add("Transpose", [by_head], f"{name}.turned", perm=[0, 2, 1, 3])
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        graph.add("Split", [turned, graph.numbers(heads, heads, heads)], *parts, axis=1)
        query, key, value = parts
        key = graph.add("Transpose", [key], f"{key}.turned", perm=[0, 1, 3, 2])
        shares = graph.add(
            "Softmax", [graph.add("MatMul", [query, key], f"{name}.scores")], f"{name}.shares", axis=-1
        )
        mixed = graph.add("MatMul", [shares, value], f"{name}.mixed")
        back = graph.add("Transpose", [mixed], f"{name}.back", perm=[0, 2, 1, 3])
        return graph.add("Reshape", [back, graph.numbers(0, 0, self.weights.width)], f"{name}.attended")

    def _linear(self, values: str, names: list[str], width: int) -> str:
        """Several matrices that read the same values are one."""
        full = [f"{self.name}.{name}" for name in names]
        matrix = np.concatenate([self._matrix(name, width) for name in full])
        bias = np.concatenate([self._bias(name) for name in full])
        return _product(self.graph, values, full[0], matrix, bias)

    def _matrix(self, name: str, width: int) -> Floats:
        return self.weights.matrix(f"{name}.w", width) * self._share(name)

    def _bias(self, name: str) -> Floats:
        return self.weights.vector(f"{name}.b") * self._share(name)

    def _share(self, name: str) -> np.float32:
        """Queries carry the attention's divisor, so that it costs nothing."""
        size = self.weights.width // self.weights.heads
        return np.float32(1 / np.sqrt(size) if name.endswith(".q") else 1)

    def _gelu(self, values: str) -> str:
        graph, name = self.graph, f"{self.name}.gelu"
        constants = {"root": np.sqrt(2.0), "one": 1.0, "half": 0.5}
        root, one, half = (graph.constant(n, np.array(v, np.float32)) for n, v in constants.items())
        error = graph.add("Erf", [graph.add("Div", [values, root], f"{name}.1")], f"{name}.2")
        weighted = graph.add("Mul", [values, graph.add("Add", [error, one], f"{name}.3")], f"{name}.4")
        return graph.add("Mul", [weighted, half], f"{name}.5")


def _product(graph: Graph, values: str, name: str, matrix: Floats, bias: Floats) -> str:
    """values · matrixᵀ + bias, in integers. The form is one that the engine knows as a single step."""
    whole, scales = quantised(matrix)
    graph.constant(f"{name}.whole", whole.T)
    graph.constant(f"{name}.zero", np.zeros(len(matrix), np.int8))
    graph.constant(f"{name}.scales", scales)
    graph.constant(f"{name}.bias", bias.astype(np.float32))
    graph.add("DynamicQuantizeLinear", [values], f"{name}.in", f"{name}.in_scale", f"{name}.in_zero")
    inputs = [f"{name}.in", f"{name}.whole", f"{name}.in_zero", f"{name}.zero"]
    sums = graph.add("Cast", [graph.add("MatMulInteger", inputs, f"{name}.sums")], f"{name}.floats", to=1)
    both = graph.add("Mul", [f"{name}.in_scale", f"{name}.scales"], f"{name}.both_scales")
    scaled = graph.add("Mul", [sums, both], f"{name}.scaled")
    return graph.add("Add", [scaled, f"{name}.bias"], name)


def quantised(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows as small integers, with each row's scale."""
    largest = np.abs(matrix).max(axis=1)
    scales = (np.where(largest > 0, largest, 1) / np.float32(LARGEST)).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
