"""What the default model subtracts from its vectors. `python -m spaces.embedding.mean CACHE` writes it anew.

The vectors of this model all point nearly the same way; without most of what they have in common, cosines tell
more. The mean is over neutral statements in the form in which memories are embedded. It is kept as a file, since
every vector stored depends on it: another mean is another model.
"""

import sys
from pathlib import Path

import numpy as np

from spaces.embedding.base import Vector
from spaces.embedding.build import ensure_model
from spaces.embedding.e5 import E5, MEAN_FILE
from spaces.embedding.neutral import passages

SHARE = 0.8
"""How much of it: without all of it, the little that is left of very ordinary texts would decide."""


def common_part(uncentred: E5) -> Vector:
    mean: Vector = SHARE * np.mean(uncentred.embed(passages(), "passage"), axis=0)
    return mean.astype(np.float32)


def main() -> None:
    files = ensure_model(Path(sys.argv[1]), lambda done, doing: None)
    np.save(MEAN_FILE, common_part(E5(files, centred=False)))


if __name__ == "__main__":
    main()
