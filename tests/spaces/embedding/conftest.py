from pathlib import Path

import pytest

from spaces.embedding.build import ModelFiles, ensure_model
from spaces.embedding.e5 import E5


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    """The default model, built from the installed wheel."""
    return ensure_model(tmp_path_factory.mktemp("models"), lambda done, doing: None)


@pytest.fixture(scope="session")
def e5(files: ModelFiles) -> E5:
    return E5(files)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"
