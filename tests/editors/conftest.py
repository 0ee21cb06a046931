from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, clean_environ, running_sidecar


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path) as running:
        yield running


@pytest.fixture
def environ(sidecar: RunningSidecar, tmp_path: Path) -> dict[str, str]:
    """The environment of an editor whose agent uses that sidecar."""
    return clean_environ(tmp_path, BRAIN_DATA_DIR=str(sidecar.data_dir))


@pytest.fixture
def workspace(sidecar: RunningSidecar) -> Path:
    (sidecar.workspace / "greeting.py").write_text('def greet(name):\n    return f"hi {name}"\n')
    return sidecar.workspace
