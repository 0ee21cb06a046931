"""The environment that a project's commands run in: where it is found, and that it is never the sidecar's."""

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from tools.environments import find_environment, without_own_environment


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without environments of their own."""
    for name in ("XDG_CACHE_HOME", "POETRY_CACHE_DIR", "POETRY_VIRTUALENVS_PATH", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("UV_PROJECT_ENVIRONMENT", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def environment(place: Path, *marks: str) -> Path:
    (place / "bin").mkdir(parents=True)
    for program in ("python", "python3"):
        (place / "bin" / program).write_text("#!/bin/sh\n")
        (place / "bin" / program).chmod(0o755)
    for mark in marks:
        (place / mark).touch()
    return place


@pytest.mark.parametrize(("name", "marks"), [(".venv", ()), ("venv", ()), ("env", ("pyvenv.cfg",))])
def test_an_environment_in_the_project_is_its_own(project: Path, name: str, marks: tuple[str, ...]) -> None:
    home = environment(project / name, *marks)
    found = find_environment(str(project))
    assert (found.home, found.folders) == (str(home), (f"{home}/bin",))
    assert found.variables == {"VIRTUAL_ENV": str(home)}
    assert found.finds("python3") and not found.finds("git")


def test_a_folder_is_no_environment_because_of_its_name(project: Path) -> None:
    (project / ".venv").mkdir()
    environment(project / "env")
    assert find_environment(str(project)).folders == ()


def test_the_nearest_environment_counts_and_every_node_modules_above(project: Path) -> None:
    outer, inner = environment(project / ".venv"), environment(project / "api" / ".venv")
    for folder in (project, project / "web" / "app"):
        (folder / "node_modules" / ".bin").mkdir(parents=True)
    assert find_environment(str(project), "api/src").home == str(inner)
    found = find_environment(str(project), "web/app")
    assert found.folders == (f"{outer}/bin", f"{project}/web/app/node_modules/.bin", f"{project}/node_modules/.bin")
    assert find_environment(str(project), "../../elsewhere").home == str(outer)


def test_poetry_names_an_environment_after_a_hash_of_the_project(project: Path, user: Path) -> None:
    (project / "pyproject.toml").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(project.resolve())).digest()).decode()[:8]
    place = user / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "pypoetry" / "virtualenvs"
    environment(place / "other-AAAAAAAA-py3.12")
    home = environment(place / f"shop-{digest}-py3.12")
    assert find_environment(str(project), "src").home == str(home)


def test_uv_may_keep_an_environment_elsewhere(project: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = environment(user / "shop-environment", "pyvenv.cfg")
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(home))
    assert not find_environment(str(project)).home
    (project / "uv.lock").touch()
    assert find_environment(str(project)).home == str(home)


def test_conda_is_asked_for_the_environment_that_the_project_names(project: Path, user: Path) -> None:
    home = environment(user / "miniconda3" / "envs" / "shop-3")
    (home / "conda-meta").mkdir()
    (project / "environment.yml").write_text("channels: []\nname: shop-3\n")
    found = find_environment(str(project))
    assert (found.home, found.variables) == (str(home), {"CONDA_PREFIX": str(home)})


@pytest.mark.parametrize("name", ["../../../tmp/evil", "/tmp/evil", ".."])
def test_a_project_cannot_name_an_environment_by_its_path(project: Path, user: Path, name: str) -> None:
    environment(user / "evil")
    (project / "environment.yml").write_text(f"name: {name}\n")
    assert not find_environment(str(project)).home


def test_a_pipe_in_place_of_a_file_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "environment.yml")
    assert find_environment(str(project)).folders == ()


def test_the_sidecars_own_environment_is_left_out(tmp_path: Path) -> None:
    own = f"{sys.prefix}/bin"
    link = tmp_path / "programs"
    link.symlink_to(own)
    path = os.pathsep.join([own, "/usr/bin", f"{own}/", str(link), "/bin"])
    found = without_own_environment({"PATH": path, "VIRTUAL_ENV": sys.prefix, "LANG": "C"})
    assert found == {"PATH": "/usr/bin:/bin", "LANG": "C"}
    other = {"PATH": "/usr/bin", "VIRTUAL_ENV": str(tmp_path)}
    assert without_own_environment(other) == other
