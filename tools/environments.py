"""Finds a project's own environment: the folders whose programs its commands find first.

The project's Python comes from its `.venv`, `venv` or `env`, from Poetry, uv, conda or Pixi; its Node programs from
`node_modules/.bin`. The repository's authors may have written these programs, so policy treats them as its code.
"""

# Called with every command: building a Path costs more than the look-up itself.
# ruff: noqa: PTH100, PTH110, PTH111, PTH112, PTH114, PTH118, PTH119, PTH120, PTH208

import base64
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from sidecar.config.paths import open_regular

_PROGRAMS = "Scripts" if sys.platform == "win32" else "bin"
_PYTHON = f"{_PROGRAMS}/python.exe" if sys.platform == "win32" else f"{_PROGRAMS}/python"
_FOLDERS = (".venv", "venv", "env", ".conda", ".pixi/envs/default")
#: Such a file says that a folder of any name is an environment.
ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_CONDA_FILES = ("environment.yml", "environment.yaml")
_CONDA_ROOTS = """
~/miniconda3 ~/miniforge3 ~/mambaforge ~/anaconda3 ~/micromamba /opt/conda /opt/miniconda3 /opt/miniforge3 ~/.conda
"""
_CONDA_NAME = re.compile(r"^name:\s*[\"']?(\w[\w.-]*)[\"']?\s*$", re.MULTILINE)
_SIZE = 1 << 16
_MAX_LEVELS = 40


class ProjectEnvironment(NamedTuple):
    """`folders` are absolute and come first on the PATH; `home` is the Python environment, empty without one."""

    folders: tuple[str, ...] = ()
    home: str = ""

    @property
    def variables(self) -> Mapping[str, str]:
        """What activating it would set, besides the PATH."""
        if not self.home:
            return {}
        conda = os.path.isdir(f"{self.home}/conda-meta")
        found = {"CONDA_PREFIX" if conda else "VIRTUAL_ENV": self.home}
        if os.path.islink(f"{self.home}/pyvenv.cfg"):
            # In a worktree, whose environment is that of another checkout, with that one's code installed.
            level = os.path.dirname(self.home)
            found["PYTHONPATH"] = os.pathsep.join(place for place in (f"{level}/src", level) if os.path.isdir(place))
        return found

    def finds(self, program: str) -> bool:
        """Whether a command of this name is a program of the environment."""
        return any(os.access(f"{folder}/{program}", os.X_OK) for folder in self.folders)


def find_environment(workspace: str, directory: str = ".") -> ProjectEnvironment:
    """The environment of a folder of the workspace: its own, else that of the nearest folder above it."""
    home, node = "", []
    for level in _levels(workspace, directory):
        home = home or _find_home(level)
        if os.path.isdir(f"{level}/node_modules/.bin"):
            node.append(f"{level}/node_modules/.bin")
    return ProjectEnvironment((*((f"{home}/{_PROGRAMS}",) if home else ()), *node), home)


def without_own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables without the sidecar's own environment: its packages are none of the project's."""
    found = dict(environ)
    if sys.prefix == sys.base_prefix:
        return found  # a Python of the machine, which is everybody's
    found["PATH"] = _without_own_folders(found.get("PATH", os.defpath))
    if "VIRTUAL_ENV" in found and os.path.realpath(found["VIRTUAL_ENV"]) == os.path.realpath(sys.prefix):
        del found["VIRTUAL_ENV"]
    return found


@lru_cache(maxsize=8)
def _without_own_folders(path: str) -> str:
    own = {f"{sys.prefix}/{_PROGRAMS}", os.path.realpath(f"{sys.prefix}/{_PROGRAMS}")}
    folders = path.split(os.pathsep)
    return os.pathsep.join(
        each for each in folders if each.rstrip("/") not in own and os.path.realpath(each) not in own
    )


def _levels(workspace: str, directory: str) -> Iterator[str]:
    """The folder, then those above it up to the workspace; only the workspace for a folder outside it."""
    top = os.path.abspath(workspace)
    place = os.path.normpath(os.path.join(top, directory))
    for _ in range(_MAX_LEVELS):
        if not place.startswith(f"{top.rstrip('/')}/"):
            break
        yield place
        place = os.path.dirname(place)
    yield top


def _find_home(level: str) -> str:
    for name in _FOLDERS:
        home = f"{level}/{name}"
        if os.access(f"{home}/{_PYTHON}", os.X_OK) and (name in _FOLDERS[:2] or _is_marked(home)):
            return home
    return _uv(level) or _poetry(level) or _conda(level)


def _is_marked(home: str) -> bool:
    return any(os.path.exists(f"{home}/{mark}") for mark in ENVIRONMENT_MARKS)


def _uv(level: str) -> str:
    named = os.environ.get("UV_PROJECT_ENVIRONMENT", "")
    if not named or not os.path.exists(f"{level}/uv.lock"):
        return ""
    return _checked(os.path.join(level, named))


def _poetry(level: str) -> str:
    """Poetry keeps its environments in one folder, and names them after a hash of the project's path."""
    if not os.path.exists(f"{level}/pyproject.toml"):
        return ""
    cache = os.environ.get("POETRY_CACHE_DIR") or _cache("pypoetry")
    place = os.environ.get("POETRY_VIRTUALENVS_PATH") or f"{cache}/virtualenvs"
    try:
        names = os.listdir(place)
    except OSError:
        return ""
    path = os.path.normcase(os.path.realpath(level))
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.encode()).digest()).decode()[:8]
    found = [f"{place}/{name}" for name in names if re.search(rf"-{re.escape(digest)}-py[\d.]+$", name)]
    # Several are for several versions of Python; the one made last is the one in use.
    return max((home for home in found if _checked(home)), key=os.path.getmtime, default="")


def _conda(level: str) -> str:
    """The environment that `environment.yml` names, if it was created."""
    for file in _CONDA_FILES:
        found = _CONDA_NAME.search(_read(f"{level}/{file}"))
        if found is not None:
            return next((home for each in _conda_homes(found[1]) if (home := _checked(each))), "")
    return ""


def _conda_homes(name: str) -> Iterator[str]:
    listed = _read(os.path.expanduser("~/.conda/environments.txt")).splitlines()
    yield from (line for line in listed if os.path.basename(line) == name)
    for root in (os.environ.get("CONDA_PREFIX", ""), *_CONDA_ROOTS.split()):
        if root:
            yield f"{os.path.expanduser(root)}/envs/{name}"


def _read(path: str) -> str:
    """The text of a file; empty without one. It never waits for a pipe or a device."""
    try:
        handle = open_regular(path)
    except OSError:
        return ""
    try:
        return os.read(handle, _SIZE).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def _checked(home: str) -> str:
    return home if os.access(f"{home}/{_PYTHON}", os.X_OK) else ""


def _cache(name: str) -> str:
    if sys.platform == "darwin":
        return os.path.expanduser(f"~/Library/Caches/{name}")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", ""), name, "Cache")
    return f"{os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')}/{name}"
