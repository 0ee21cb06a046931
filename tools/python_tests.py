"""The tests of a Python project: its test files, whether they need pytest, and the Python that runs them."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from tools.errors import ToolError
from tools.host import FileInfo, Host
from tools.parsed import parse_python, parse_toml
from tools.skipped import is_skipped

_SIZE = 1 << 20
_SECONDS = 20.0
_MAX_FOLDERS = 200
_MAX_FILES = 200
#: So many test files are parsed to find out what they are written for.
_PARSED = 40
_TEST_FOLDERS = ("tests", "test")
#: Files that name pytest as a setting or as a package.
_SETTINGS = ("pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "noxfile.py", "Pipfile", "environment.yml")
_PYTEST = re.compile(rb"\bpytest\b")
_OWN_IMPORTS = re.compile(
    rb"pythonpath|maturin|scikit.build|mesonpy|meson-python|cython|mypyc|ext_modules|setuptools.rust|cffi",
    re.IGNORECASE,
)
_MAX_PACKAGES = 20


class Files(Protocol):
    async def read(self, path: str, limit: int) -> bytes: ...

    async def list(self, path: str) -> Sequence[FileInfo]: ...

    async def names(self, path: str) -> Sequence[str]: ...


def _may_be_collected(name: str) -> bool:
    """By the patterns of unittest, which are wider than those of pytest."""
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


async def find_test_files(files: Files, names: Mapping[str, str]) -> list[str]:
    """The Python test files, folders named `tests` first; `names` are the kinds of what is at the top."""
    found = [name for name in names if _may_be_collected(name) or name == "conftest.py"]
    folders = [name for name, kind in names.items() if kind == "directory"]
    folders.sort(key=lambda name: name not in _TEST_FOLDERS)
    seen = 0
    while folders and seen < _MAX_FOLDERS and len(found) < _MAX_FILES:
        folder = folders.pop(0)
        if is_skipped(f"{folder}/") or folder.rpartition("/")[2].startswith("."):
            continue
        seen += 1
        try:
            # Names are cached, while a list would ask for the size and time of each file.
            inside = await files.names(folder)
        except ToolError:
            continue
        folders += [f"{folder}/{name[:-1]}" for name in inside if name.endswith("/")]
        found += [f"{folder}/{name}" for name in inside if _may_be_collected(name) or name == "conftest.py"]
    return found[:_MAX_FILES]


async def is_set_up_for_pytest(files: Files, names: Mapping[str, str]) -> bool:
    """By its configuration or its dependencies."""
    if {"pytest.ini", ".pytest.ini", "conftest.py"} & names.keys():
        return True
    listed = [name for name in names if name in _SETTINGS or ("requirements" in name and name.endswith(".txt"))]
    if names.get("requirements") == "directory":
        listed += [info.path for info in await files.list("requirements") if info.path.endswith((".txt", ".in"))]
    return any([_PYTEST.search(await _read(files, name)) for name in listed if names.get(name, "file") == "file"])


async def need_pytest(files: Files, tests: Sequence[str]) -> bool:
    """Whether only pytest collects these tests."""
    if any(path.endswith("conftest.py") for path in tests):
        return True
    return any([_needs_pytest(await _read(files, path)) for path in tests[:_PARSED]])


def is_near(path: str) -> bool:
    """At the top of the project, or in its folder of tests."""
    folder = path.rpartition("/")[0]
    return not folder or folder.partition("/")[0] in _TEST_FOLDERS


async def _read(files: Files, path: str) -> bytes:
    try:
        return await files.read(path, _SIZE)
    except ToolError:
        return b""


def _needs_pytest(content: bytes) -> bool:
    """Whether the file imports pytest, or has tests that unittest doesn't collect: functions and plain classes."""
    try:
        body = parse_python(content).body
    except (SyntaxError, ValueError):
        return False
    for node in body:
        match node:
            case ast.Import(names=names) if any(each.name.partition(".")[0] == "pytest" for each in names):
                return True
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "pytest":
                return True
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                return True
            case ast.ClassDef(name=name, bases=[], body=members) if name.startswith("Test"):
                functions = (each for each in members if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
                if any(each.name.startswith("test_") for each in functions):
                    return True
    return False


async def discovery_arguments(files: Files, names: Mapping[str, str]) -> list[str]:
    """Where `unittest discover` looks; a folder that is no package is the top of its own tests."""
    for folder in _TEST_FOLDERS:
        if names.get(folder) == "directory":
            inside = {info.path for info in await files.list(folder)}
            return [] if f"{folder}/__init__.py" in inside else ["-s", folder]
    return []


async def runs_django_tests(files: Files, names: Mapping[str, str]) -> bool:
    return names.get("manage.py") == "file" and b"django" in await _read(files, "manage.py")


async def source_packages(files: Files, names: Mapping[str, str]) -> list[str]:
    """The packages in `src`, unless the project says itself where its tests find them, or compiles a part of them."""
    if names.get("src") != "directory":
        return []
    if any([_OWN_IMPORTS.search(await _read(files, name)) for name in names if name in (*_SETTINGS, "pytest.ini")]):
        return []
    folders = [name[:-1] for name in await files.names("src") if name.endswith("/") and name[:-1].isidentifier()]
    return [name for name in folders[:_MAX_PACKAGES] if "__init__.py" in await files.names(f"src/{name}")]


#: Exit code 1: there is no pytest; 2: one of the packages is found elsewhere than in `src`, or nowhere.
_PROBE = """
import os, sys
from importlib.util import find_spec
if find_spec("pytest") is None:
    sys.exit(1)
source = os.path.realpath("src") + os.sep
specs = [find_spec(name) for name in sys.argv[1:]]
sys.exit(0 if all(spec and os.path.realpath(spec.origin or "").startswith(source) for spec in specs) else 2)
"""


async def probe_pytest(
    python: str, folder: str, host: Host, call_id: str, packages: Sequence[str] = ()
) -> Literal["missing", "ready", "elsewhere"]:
    """Whether this Python has pytest, and finds the packages in `src`. The host runs the project's own, if it has one.

    Without a look, tests of a `src` layout run against whatever version of the package is installed.
    """
    argv = [python, "-c", _PROBE, *packages]
    try:
        result = await host.run(argv, call_id=call_id, cwd=folder, timeout=_SECONDS, output=_discard, log=False)
    except ToolError:
        return "missing"
    return "ready" if result.exit_code == 0 else "elsewhere" if result.exit_code == 2 else "missing"


def pytest_missing() -> ToolError:
    return ToolError(
        "The project's tests need pytest, and its Python doesn't have it. Install it in the project's environment "
        "(python3 -m venv .venv && .venv/bin/python -m pip install pytest), then run the "
        "tests again.",
        code="packages_missing",
    )


async def find_missing_packages(folder: str, host: Host, output: str) -> str | None:
    """Which declared packages are missing, if that is why no test ran."""
    missing = [
        name
        for name in await _needed(host, folder)
        if re.search(rf"No module named '{re.escape(re.sub(r'[-.]+', '_', name.lower()))}\b", output)
    ]
    if not missing:
        return None
    return (
        f"The project's packages are not installed: its Python doesn't have {', '.join(missing)}. Install them in its "
        "environment (python3 -m venv .venv && .venv/bin/python -m pip install --editable .), then run the tests again."
    )


async def _needed(host: Host, folder: str) -> list[str]:
    """The packages that the project always requires."""
    try:
        project = parse_toml(await host.read(f"{folder}/pyproject.toml", _SIZE))["project"]
        names = [re.match(r"[\w.-]+", each) for each in project.get("dependencies", []) if ";" not in each]
        return [name[0] for name in names if name is not None]
    except (ToolError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _discard(stream: str, text: str) -> None:
    """Discard the output of the probe."""
