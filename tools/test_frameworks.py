"""Finds a project's test framework and the command that runs it."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from tools.errors import ToolError
from tools.host import FileInfo, Host
from tools.node_package import NodePackage, read_package
from tools.python_tests import (
    Files,
    discovery_arguments,
    find_missing_packages,
    find_test_files,
    is_near,
    is_set_up_for_pytest,
    need_pytest,
    probe_pytest,
    pytest_missing,
    runs_django_tests,
    source_packages,
)
from tools.test_files import is_collected_by_name

Name = Literal["pytest", "unittest", "npm", "go", "cargo", "make"]

_SIZE = 1 << 20
_PYTEST = ("-m", "pytest", "-q", "-rfE", "--tb=short", "--color=no")

#: Offline, because npx asks the registry for minutes where a sandbox has no network.
_NPX = ("npx", "--no-install", "--offline")
_NODE_RUNNERS = {"vitest": ("vitest", "run"), "jest": ("jest",), "mocha": ("mocha",), "ava": ("ava",)}
#: Programs that run another one, to see which lines it reaches.
_COVERAGE = ("c8", "nyc")
#: Programs with Node's own test runner, options of theirs with a value, and files that hold tests.
_NODE_TESTS = ("node", "tsx")
_VALUED_NAMES = """
--import --require -r --loader --experimental-loader --conditions -C --env-file --env-file-if-exists
--test-reporter --test-reporter-destination --test-concurrency --test-timeout --test-shard --test-name-pattern
--test-skip-pattern
"""
_VALUED = frozenset(_VALUED_NAMES.split())
_NODE_FILE = re.compile(r"\.[cm]?[jt]sx?$")
_SUFFIXES: Mapping[Name, tuple[str, ...]] = {
    "pytest": (".py",),
    "unittest": (".py",),
    "go": (".go",),
    "cargo": (".rs",),
}
#: Files that make a folder a project of its own, with tests that run in it.
MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "package.json", "go.mod", "Cargo.toml"})


class Framework(NamedTuple):
    name: Name
    argv: Sequence[str]
    #: The folder of the workspace to run it in.
    folder: str = "."


def is_test_of(framework: Name, path: str) -> bool:
    """Whether a file holds tests that this framework should collect, by its name."""
    return is_collected_by_name(path) and path.endswith(_SUFFIXES.get(framework, ""))


class _Inside:
    """The files of a folder, seen as a workspace."""

    def __init__(self, host: Host, folder: str) -> None:
        self._host = host
        self._folder = folder

    async def read(self, path: str, limit: int) -> bytes:
        return await self._host.read(f"{self._folder}/{path}", limit)

    async def names(self, path: str) -> Sequence[str]:
        return await self._host.names(self._folder if path == "." else f"{self._folder}/{path}")

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
    """Without an environment of its own, the host gives it the workspace's."""
    return (await _framework(_Inside(host, folder), []))._replace(folder=folder)


async def _listed(host: Host, folder: str) -> dict[str, str]:
    """The names and kinds in a folder; empty if there is none."""
    try:
        return {info.path.rpartition("/")[2]: info.kind for info in await host.list(folder)}
    except ToolError:
        return {}


async def _framework(host: Files, after: Sequence[str]) -> Framework:
    # Names are cached, while a list would ask for the size and time of each file.
    names = {name.rstrip("/"): "directory" if name.endswith("/") else "file" for name in await host.names(".")}
    python = await _python(host, names)
    tests = await find_test_files(host, names)
    pytest = Framework("pytest", [*python, *_PYTEST, *after])
    if await is_set_up_for_pytest(host, names) or await need_pytest(host, [path for path in tests if is_near(path)]):
        return pytest
    if "package.json" in names and (argv := await _npm_command(host, after)):
        return Framework("npm", argv)
    if "go.mod" in names:
        return Framework("go", ["go", "test", "-json", *(after or ["./..."])])
    if "Cargo.toml" in names:
        return Framework("cargo", ["cargo", "test", "--color=never", *after])
    # Far from the top, such as in a folder of scripts, they are the tests of a Python project only if it is no other.
    if await need_pytest(host, tests):
        return pytest
    if tests:
        modules = [target.removesuffix(".py").replace("/", ".") for target in after]
        if await runs_django_tests(host, names):
            return Framework("unittest", [*python, "manage.py", "test", *modules])
        if not after:
            where = await discovery_arguments(host, names)
            return Framework("unittest", [*python, "-m", "unittest", "discover", *where])
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


async def choose_runner(framework: Framework, host: Host, call_id: str) -> Framework:
    """Make sure that the project's Python has pytest. Without it, unittest runs the tests if it collects them all."""
    if framework.name != "pytest":
        return framework
    packages = await source_packages(*await _files(framework, host))
    state = await probe_pytest(framework.argv[0], framework.folder, host, call_id, packages)
    if state != "missing":
        return framework if state == "ready" else _on_source(framework)
    others = await _without_pytest(framework, host)
    if not others:
        raise pytest_missing()
    return others[0]


async def with_pytest(framework: Framework, host: Host, call_id: str) -> Framework | None:
    """The same tests with pytest, which collects more than unittest; `None` if the project's Python doesn't have it."""
    if framework.name != "unittest":
        return None
    state = await probe_pytest(framework.argv[0], framework.folder, host, call_id)
    return None if state == "missing" else _as_pytest(framework)


async def other_runners(framework: Framework, host: Host, targets: Sequence[str] = ()) -> list[Framework]:
    """What runs the same tests if this one can't."""
    if framework.name == "npm":
        runner = _node_runner(await read_package(host, framework.folder), targets)
        return [framework._replace(argv=runner)] if runner and runner != framework.argv else []
    if framework.name == "unittest":
        return [_as_pytest(framework)]
    if framework.name != "pytest":
        return []
    source = [_on_source(framework)] if await source_packages(*await _files(framework, host)) else []
    return [*source, *await _without_pytest(framework, host)]


async def _files(framework: Framework, host: Host) -> tuple[Files, dict[str, str]]:
    files: Files = host if framework.folder == "." else _Inside(host, framework.folder)
    return files, {info.path: info.kind for info in await files.list(".")}


def _on_source(framework: Framework) -> Framework:
    """The same with the code in `src`, not with the version that is installed."""
    at = 1 + len(_PYTEST)
    return framework._replace(argv=[*framework.argv[:at], "-o", "pythonpath=src", *framework.argv[at:]])


async def _without_pytest(framework: Framework, host: Host) -> list[Framework]:
    python, *options = framework.argv
    files, names = await _files(framework, host)
    tests = await find_test_files(files, names)
    if not tests or options != [*_PYTEST] or await need_pytest(files, tests):
        return []
    where = await discovery_arguments(files, names)
    return [framework._replace(name="unittest", argv=[python, "-m", "unittest", "discover", *where])]


def _as_pytest(framework: Framework) -> Framework:
    return framework._replace(name="pytest", argv=[framework.argv[0], *_PYTEST])


async def find_missing(framework: Framework, host: Host, output: str) -> str | None:
    """What isn't installed, if that is why no test ran."""
    if framework.name != "npm":
        return await find_missing_packages(framework.folder, host, output)
    for folder in (framework.folder, "."):
        if "node_modules" in await _listed(host, folder):
            return None
    if (await read_package(host, framework.folder)).packages:
        return "The project's packages are not installed. Run npm install, then run the tests again."
    return None


async def _npm_command(host: Files, after: Sequence[str]) -> list[str] | None:
    """The test script, or else a runner that the package depends on."""
    package = await read_package(host)
    if "test" in package.scripts and "no test specified" not in package.scripts["test"]:
        if after and (argv := _part_of_script(package.scripts["test"], after)):
            return argv
        # npm passes everything after the dashes to the script.
        return ["npm", "test", "--silent", *(["--", *after] if after else [])]
    return _node_runner(package, after)


def _part_of_script(script: str, targets: Sequence[str]) -> list[str] | None:
    """The part of a test script that runs tests, for these targets alone.

    npm would append them to the script's last command, which may be another one, and beside the files that it names.
    """
    parts = re.split(r"&&|;", script)
    for number, part in enumerate(parts):
        if re.search(r"[$`|<>()&]", part):
            continue
        try:
            program, *words = shlex.split(part)
        except ValueError:
            continue
        if program in _COVERAGE and words:
            program, *words = words
        if program in _NODE_TESTS and "--test" in words:
            prefix = [program] if program == "node" else [*_NPX, program]
            options = [word for word, before in zip(words, ["", *words], strict=False) if _is_option(word, before)]
            files = [target for target in targets if _NODE_FILE.search(target)]
            names = [f"--test-name-pattern={re.escape(target)}" for target in targets if target not in files]
            # Names without files are looked for in all of them, which only a shell could list.
            if files:
                return [*prefix, *options, *names, *files]
        elif program in _NODE_RUNNERS and number < len(parts) - 1 and not any("*" in word for word in words):
            return [*_NPX, program, *words, *targets]
    return None


def _is_option(word: str, before: str) -> bool:
    return word.startswith("-") or before in _VALUED


def _node_runner(package: NodePackage, after: Sequence[str]) -> list[str] | None:
    """A runner that the package depends on."""
    runner = next((argv for name, argv in _NODE_RUNNERS.items() if name in package.packages), None)
    return None if runner is None else [*_NPX, *runner, *after]


async def _has_target(host: Files) -> bool:
    return any(line.startswith(b"test:") for line in (await host.read("Makefile", _SIZE)).splitlines())
