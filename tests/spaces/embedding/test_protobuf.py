"""What is written by hand is read by the libraries that it is for."""

import numpy as np
import onnxruntime as ort
import pytest
import sentencepiece

from spaces.embedding.encoder import LARGEST, _product, quantised
from spaces.embedding.onnx import Graph
from spaces.embedding.pieces import sentencepiece_model
from spaces.embedding.protobuf import message
from spaces.embedding.weights import Vocabulary, unpack


@pytest.mark.parametrize(
    ("number", "value", "written"),
    [
        (1, 150, b"\x08\x96\x01"),
        (1, 0, b"\x08\x00"),
        (2, "testing", b"\x12\x07testing"),
        (3, b"\x08\x96\x01", b"\x1a\x03\x08\x96\x01"),
        (16, 1, b"\x80\x01\x01"),
        (5, 1.5, b"\x2d\x00\x00\xc0\x3f"),
        (1, -1, b"\x08" + b"\xff" * 9 + b"\x01"),
    ],
)
def test_fields_are_written_as_the_wire_format_says(number: int, value: object, written: bytes) -> None:
    assert message((number, value)) == written


def test_the_engine_computes_what_a_graph_says() -> None:
    graph = Graph()
    weights = graph.constant("weights", np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    graph.add("MatMul", ["in", weights], "out")
    session = ort.InferenceSession(graph.model(("in", [1, "length", 3]), ("out", [1, "length", 2])))
    (answer,) = session.run(None, {"in": np.array([[[1, 0, 1], [0, 1, 0]]], np.float32)})
    assert answer.tolist() == [[[6, 8], [3, 4]]]


def test_a_product_in_small_integers_is_nearly_exact() -> None:
    random = np.random.default_rng(1)
    matrix, bias = random.normal(size=(48, 64)).astype(np.float32), random.normal(size=48).astype(np.float32)
    values = random.normal(size=(1, 5, 64)).astype(np.float32)
    graph = Graph()
    name = _product(graph, "in", "product", matrix, bias)
    session = ort.InferenceSession(graph.model(("in", [1, "length", 64]), (name, [1, "length", 48])))
    (answer,) = session.run(None, {"in": values})
    exact = values @ matrix.T + bias
    assert np.abs(answer - exact).max() < 0.05 * np.abs(exact).max()


def test_small_integers_keep_to_seven_bits_and_zero_rows_stay_zero() -> None:
    whole, scales = quantised(np.array([[1, -2, 0.5], [0, 0, 0]], np.float32))
    assert whole.tolist() == [[31, -LARGEST, 16], [0, 0, 0]]
    assert (whole[0] * scales[0]).tolist() == pytest.approx([1, -2, 0.5], abs=0.03)


def test_blocks_unpack_to_numbers() -> None:
    scale = np.array([0.5], "<f2").tobytes()
    block = np.frombuffer(scale + bytes(range(16)), np.uint8)
    low = [((i & 15) - 8) * 0.5 for i in range(16)]
    high = [((i >> 4) - 8) * 0.5 for i in range(16)]
    assert unpack(block[None]).ravel().tolist() == low + high


def test_the_vocabulary_gives_every_piece_its_number() -> None:
    pieces = [
        b"<s>",
        b"<pad>",
        b"</s>",
        b"<unk>",
        "▁the".encode(),
        "▁dog".encode(),
        b"s",
        "▁dog".encode(),
        b"",
    ]
    scores = np.array([0, 0, 0, 0, -1, -2, -3, -4, -5], np.float32)
    model = sentencepiece_model(Vocabulary(pieces, scores, bos=0, eos=2, pad=1, unknown=3))
    reader = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert reader.get_piece_size() == len(pieces)
    assert reader.encode("the dogs") == [4, 5, 6]
