"""The model's vocabulary as a file that the sentencepiece library reads: quick to load, small in memory."""

from spaces.embedding.protobuf import message, repeated
from spaces.embedding.weights import Floats, Vocabulary

UNIGRAM = 1
NORMAL, UNKNOWN, CONTROL = 1, 2, 3


def sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    trainer = message(
        (3, UNIGRAM),
        (4, len(vocabulary.pieces)),
        (40, vocabulary.unknown),
        (41, vocabulary.bos),
        (42, vocabulary.eos),
        (43, vocabulary.pad),
        (45, "<unk>"),
        (46, "<s>"),
        (47, "</s>"),
        (48, "<pad>"),
    )
    normaliser = message((1, "identity"), (3, 1), (4, 1), (5, 1))
    return message(*repeated(1, _pieces(vocabulary)), (2, trainer), (3, normaliser))


def _pieces(vocabulary: Vocabulary) -> list[bytes]:
    """Ids stay as they are. A piece that came before or is empty gets a name that no text has."""
    kinds = {vocabulary.unknown: UNKNOWN} | dict.fromkeys(
        (vocabulary.bos, vocabulary.eos, vocabulary.pad), CONTROL
    )
    endings = {kind: message((3, kind)) for kind in (NORMAL, UNKNOWN, CONTROL)}
    seen = {b""}
    found = []
    for number, (piece, score) in enumerate(zip(vocabulary.pieces, _encoded(vocabulary.scores), strict=True)):
        kind = kinds.get(number, NORMAL)
        if piece in seen:
            piece, kind = b"<double %d>" % number, CONTROL
        seen.add(piece)
        found.append(message((1, piece)) + score + endings[kind])
    return found


def _encoded(scores: Floats) -> list[bytes]:
    """As fields of a message; there are a quarter of a million, so all at once."""
    start = message((2, 0.0))[:1]
    raw = scores.astype("<f4").tobytes()
    return [start + raw[i : i + 4] for i in range(0, len(raw), 4)]
