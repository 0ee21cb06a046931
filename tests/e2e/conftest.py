import shutil
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


@pytest.fixture(scope="module")
def one_sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSidecar]:
    """For all tests of a file, with a workspace that is trusted and somebody who commits."""
    names = {f"GIT_{who}_{what}": "x@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    with running_sidecar(tmp_path_factory.mktemp("one"), **names) as sidecar:
        trusted = sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
        assert trusted.status == 200
        yield sidecar


@pytest.fixture
def trusting(one_sidecar: RunningSidecar) -> RunningSidecar:
    """The same sidecar for all of them, each with an empty workspace."""
    for each in one_sidecar.workspace.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    return one_sidecar
