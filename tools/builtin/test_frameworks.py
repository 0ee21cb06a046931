"""Which test framework a project uses, and the command that runs it."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Literal, NamedTuple

from tools.errors import ToolError
from tools.host import Host

Name = Literal["pytest", "unittest", "npm", "go", "cargo", "make"]

_SIZE = 1 << 20


class Framework(NamedTuple):
    name: Name
    argv: Sequence[str]


async def found_framework(host: Host, targets: Sequence[str] = ()) -> Framework:
    names = {info.path: info.kind for info in await host.list(".")}
    after = [target for target in targets if target]
    python = await _python(host, names)
    if await _uses_pytest(host, names):
        return Framework("pytest", [*python, "-m", "pytest", "-q", "-rfE", "--tb=short", "--color=no", *after])
    if "package.json" in names and (script := await _npm_script(host)):
        # npm hands on what stands behind the dashes to the script.
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
        "No tests were found: no pytest or unittest files, package.json test script, go.mod, Cargo.toml or make test. "
        "Run them with run_command if you know how.",
        code="no_tests",
    )


async def _python(host: Host, names: Mapping[str, str]) -> list[str]:
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


async def runnable(framework: Framework, host: Host, call_id: str) -> Framework:
    """With a Python that has pytest, where it takes one: the project's own if it can be, else one at hand."""
    if framework.name != "pytest":
        return framework
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"
    python, *rest = framework.argv
    for candidate in (python, "python3", sys.executable):
        try:
            result = await host.run([candidate, "-c", look], call_id=call_id, timeout=20, output=_unheard, log=False)
        except ToolError:
            continue
        if result.exit_code == 0:
            return framework._replace(argv=[candidate, *rest])
    raise ToolError(
        "The project's tests need pytest, and no Python here has it. Install it (python -m pip install pytest, best in "
        "the project's .venv), then run the tests again.",
        code="pytest_missing",
    )


def _unheard(stream: str, text: str) -> None:
    """What the look for pytest prints is nobody's business."""


async def _uses_pytest(host: Host, names: Mapping[str, str]) -> bool:
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


async def _python_tests(host: Host, names: Mapping[str, str]) -> bool:
    return bool(await _test_files(host, names))


async def _test_files(host: Host, names: Mapping[str, str]) -> list[str]:
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


async def _where(host: Host, names: Mapping[str, str]) -> list[str]:
    for folder in ("tests", "test"):
        if names.get(folder) == "directory":
            inside = {info.path for info in await host.list(folder)}
            return [] if f"{folder}/__init__.py" in inside else ["-s", folder, "-t", "."]
    return []


async def _npm_script(host: Host) -> str | None:
    try:
        package = json.loads(await host.read("package.json", _SIZE))
        script = package.get("scripts", {}).get("test")
    except (ValueError, AttributeError):
        return None
    return script if isinstance(script, str) and "no test specified" not in script else None


async def _has_target(host: Host) -> bool:
    return any(line.startswith(b"test:") for line in (await host.read("Makefile", _SIZE)).splitlines())
