from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, clean_environ, running_sidecar
from tests.e2e.terminal import brain


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path) as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir(exist_ok=True)
    (path / "notes.txt").write_text("TODO: water the plants\n")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment with a data directory of its own; a sidecar that was left there is stopped."""
    environ = clean_environ(tmp_path, BRAIN_DATA_DIR=str(tmp_path / "data"))
    yield environ
    brain("stop", environ=environ)
