from dataclasses import fields, replace

import pytest

from spaces.embedding.default import DEFAULT_MODEL
from spaces.embedding.spec import Prefixes, fingerprint, known_prefixes

E5 = Prefixes("query: ", "passage: ")
BGE = Prefixes("Represent this sentence for searching relevant passages: ")


@pytest.mark.parametrize("name", [field.name for field in fields(DEFAULT_MODEL)])
def test_whatever_a_vector_depends_on_makes_another_fingerprint(name: str) -> None:
    other = 768 if name == "dimensions" else "other"
    changed = replace(DEFAULT_MODEL, **{name: other})
    assert fingerprint(changed, template=1) != fingerprint(DEFAULT_MODEL, template=1)


def test_other_versions_of_making_texts_ready_make_another_fingerprint() -> None:
    prints = {fingerprint(DEFAULT_MODEL, template=t, chunks=c) for t in (1, 2) for c in (1, 2)}
    assert len(prints) == 4


def test_the_same_model_has_the_same_fingerprint_everywhere() -> None:
    assert fingerprint(DEFAULT_MODEL, template=1) == fingerprint(replace(DEFAULT_MODEL), template=1)


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [
        ("intfloat/multilingual-e5-large", E5),
        ("BAAI/bge-base-en-v1.5", BGE),
        ("BAAI/bge-m3", Prefixes()),
        ("bge-m3:latest", Prefixes()),
        ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
        ("mxbai-embed-large", BGE),
        ("text-embedding-3-small", Prefixes()),
        ("all-minilm", Prefixes()),
    ],
)
def test_models_that_are_known_get_their_prefixes(name: str, prefixes: Prefixes) -> None:
    assert known_prefixes(name) == prefixes
