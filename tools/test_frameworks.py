"""Finds a project's test framework and the command that runs it."""

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Literal, NamedTuple, Protocol

from tools.errors import ToolError
from tools.host import FileInfo, Host

Name = Literal["pytest", "unittest", "npm", "go", "cargo", "make"]

_SIZE = 1 << 20


#: Files that make a folder a project of its own, with tests that run in it.
MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "package.json", "go.mod", "Cargo.toml"})


class Framework(NamedTuple):
    name: Name
    argv: Sequence[str]
    #: The folder of the workspace to run it in.
    folder: str = "."


class Files(Protocol):
    async def read(self, path: str, limit: int) -> bytes: ...

    async def list(self, path: str) -> Sequence[FileInfo]: ...


class _Inside:
    """The files of a folder, seen as a workspace."""

    def __init__(self, host: Host, folder: str) -> None:
        self._host = host
        self._folder = folder

    async def read(self, path: str, limit: int) -> bytes:
        return await self._host.read(f"{self._folder}/{path}", limit)

    async def list(self, path: str) -> Sequence[FileInfo]:
        listed = await self._host.list(self._folder if path == "." else f"{self._folder}/{path}")
        return [info._replace(path=info.path.removeprefix(f"{self._folder}/")) for info in listed]


async def find_framework(host: Host, targets: Sequence[str] = ()) -> Framework:
    """How to run all tests, or the targets. A target that is a project of its own runs in its folder."""
    wanted = [target for target in targets if target]
    folder = wanted[0].rstrip("/") if len(wanted) == 1 else "."
    inside = await _listed(host, folder) if folder not in (".", "") else {}
    if inside and MANIFESTS & inside.keys():
        return await _in_folder(host, folder)
    try:
        return await _framework(host, wanted)
    except ToolError as error:
        if not inside or error.code != "no_tests":
            raise
    return await _in_folder(host, folder)


async def _in_folder(host: Host, folder: str) -> Framework:
    framework = (await _framework(_Inside(host, folder), []))._replace(folder=folder)
    if framework.argv[0] == "python3":
        own = (await _python(host, await _listed(host, ".")))[0]
        # Without an environment of its own it uses the workspace's.
        up = "../" * len(folder.split("/"))
        python = own if own == "python3" else f"{up}{own.removeprefix('./')}"
        return framework._replace(argv=[python, *framework.argv[1:]])
    return framework


async def _listed(host: Host, folder: str) -> dict[str, str]:
    """The names and kinds in a folder; empty if there is none."""
    try:
        return {info.path.rpartition("/")[2]: info.kind for info in await host.list(folder)}
    except ToolError:
        return {}


async def _framework(host: Files, after: Sequence[str]) -> Framework:
    names = {info.path: info.kind for info in await host.list(".")}
    python = await _python(host, names)
    if await _uses_pytest(host, names):
        return Framework("pytest", [*python, "-m", "pytest", "-q", "-rfE", "--tb=short", "--color=no", *after])
    if "package.json" in names and (script := await _npm_script(host)):
        # npm passes everything after the dashes to the script.
        return Framework("npm", ["npm", "test", "--silent", *(["--", *after] if after and script else [])])
    if "go.mod" in names:
        return Framework("go", ["go", "test", "-json", *(after or ["./..."])])
    if "Cargo.toml" in names:
        return Framework("cargo", ["cargo", "test", "--color=never", *after])
    if await _python_tests(host, names):
        if not after:
            return Framework("unittest", [*python, "-m", "unittest", "discover", *await _where(host, names)])
        modules = [target.removesuffix(".py").replace("/", ".") for target in after]
        return Framework("unittest", [*python, "-m", "unittest", *modules])
    if "Makefile" in names and await _has_target(host):
        return Framework("make", ["make", "test"])
    raise ToolError(
        "No tests were found: no pytest or unittest files, package.json test script, go.mod, Cargo.toml or make test.",
        advice="If you know how to run them, use run_command.",
        code="no_tests",
    )


async def _python(host: Files, names: Mapping[str, str]) -> list[str]:
    for folder in (".venv", "venv"):
        if names.get(folder) == "directory":
            binary = f"{folder}/bin/python"
            try:
                listed = {info.path for info in await host.list(f"{folder}/bin")}
            except ToolError:
                continue
            if binary in listed:
                return [f"./{binary}"]
    return ["python3" if sys.platform != "win32" else "python"]


async def choose_python(framework: Framework, host: Host, call_id: str) -> Framework:
    """For pytest, choose a Python that has it: the project's own if possible, else one with its dependencies."""
    if framework.name != "pytest":
        return framework
    python, *rest = framework.argv
    needed = await _needed(host, framework.folder)
    second = None
    for candidate in dict.fromkeys((python, "python3", sys.executable)):
        try:
            result = await host.run(
                [candidate, "-c", _PROBE, *needed],
                call_id=call_id,
                cwd=framework.folder,
                timeout=20,
                output=_discard,
                log=False,
            )
        except ToolError:
            continue
        if result.exit_code == 0 or (result.exit_code == _INCOMPLETE and candidate.startswith(".")):
            return framework._replace(argv=[candidate, *rest])
        if result.exit_code == _INCOMPLETE:
            second = second or candidate
    if second is not None:
        return framework._replace(argv=[second, *rest])
    raise ToolError(
        "The project's tests need pytest, and no Python here has it. Install it (python -m pip install pytest, ideally "
        "in the project's .venv), then run the tests again.",
        code="pytest_missing",
    )


#: Exit code of a Python that has pytest but lacks a dependency of the project.
_INCOMPLETE = 3
_PROBE = f"""
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
if find_spec("pytest") is None:
    sys.exit(1)
try:
    for name in sys.argv[1:]:
        distribution(name)
except PackageNotFoundError:
    sys.exit({_INCOMPLETE})
"""


async def find_missing_packages(framework: Framework, host: Host, output: str) -> str | None:
    """Which declared packages are missing, if that is why no test ran."""
    if framework.name == "npm":
        for folder in (framework.folder, "."):
            if "node_modules" in await _listed(host, folder):
                return None
        declared = await _package(host, framework.folder)
        if declared.get("dependencies") or declared.get("devDependencies"):
            return "The project's packages are not installed. Run npm install, then run the tests again."
        return None
    missing = [
        name
        for name in await _needed(host, framework.folder)
        if re.search(rf"No module named '{re.escape(re.sub(r'[-.]+', '_', name.lower()))}\b", output)
    ]
    if not missing:
        return None
    return (
        f"The project needs {', '.join(missing)}, which no Python here has. Install it in its .venv (python -m pip "
        "install --editable .), then run the tests again."
    )


async def _package(host: Host, folder: str) -> dict[str, object]:
    try:
        found = json.loads(await host.read(f"{folder}/package.json", _SIZE))
    except (ToolError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


async def _needed(host: Host, folder: str) -> list[str]:
    """The packages that the project always requires."""
    try:
        project = tomllib.loads((await host.read(f"{folder}/pyproject.toml", _SIZE)).decode())["project"]
        names = [re.match(r"[\w.-]+", each) for each in project.get("dependencies", []) if ";" not in each]
        return [name[0] for name in names if name is not None]
    except (ToolError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _discard(stream: str, text: str) -> None:
    """Discard the output of the probe."""


async def _uses_pytest(host: Files, names: Mapping[str, str]) -> bool:
    if {"pytest.ini", "conftest.py", ".pytest.ini"} & names.keys():
        return True
    for name in (
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements-dev.txt",
        "requirements.txt",
        "dev-requirements.txt",
    ):
        if name in names and b"pytest" in await host.read(name, _SIZE):
            return True
    for path in await _test_files(host, names):
        head = await host.read(path, _SIZE)
        if re.search(rb"^(import|from) pytest\b", head, re.MULTILINE):
            return True
        if b"unittest" not in head and re.search(rb"^(async )?def test_", head, re.MULTILINE):
            return True
    return False


async def _python_tests(host: Files, names: Mapping[str, str]) -> bool:
    return bool(await _test_files(host, names))


async def _test_files(host: Files, names: Mapping[str, str]) -> list[str]:
    found = [path for path in names if _is_test(path)]
    for folder in ("tests", "test"):
        if names.get(folder) == "directory":
            entries = await host.list(folder)
            found += [info.path for info in entries if info.kind == "file" and _is_test(info.path.rpartition("/")[2])]
            if "conftest.py" in (info.path.rpartition("/")[2] for info in entries):
                found.append(f"{folder}/conftest.py")
    return found[:20]


def _is_test(name: str) -> bool:
    return fnmatch(name, "test*.py") or fnmatch(name, "*_test.py")


async def _where(host: Files, names: Mapping[str, str]) -> list[str]:
    for folder in ("tests", "test"):
        if names.get(folder) == "directory":
            inside = {info.path for info in await host.list(folder)}
            return [] if f"{folder}/__init__.py" in inside else ["-s", folder, "-t", "."]
    return []


async def _npm_script(host: Files) -> str | None:
    try:
        package = json.loads(await host.read("package.json", _SIZE))
        script = package.get("scripts", {}).get("test")
    except (ValueError, AttributeError):
        return None
    return script if isinstance(script, str) and "no test specified" not in script else None


async def _has_target(host: Files) -> bool:
    return any(line.startswith(b"test:") for line in (await host.read("Makefile", _SIZE)).splitlines())
