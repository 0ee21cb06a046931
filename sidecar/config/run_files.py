"""Finds the files by which a workspace's tests, builds and linters run something: conftest.py, scripts, plugins.

Of a file that holds other settings too, only the part counts that can run something, one setting in a line.
"""

# Policy asks before each test run, and building a Path would cost more than the system call.
# ruff: noqa: PTH116

import fnmatch
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sidecar.config.paths import open_regular
from sidecar.wire.text import plural

_FILE_NAMES = """
conftest.py noxfile.py setup.py sitecustomize.py usercustomize.py pytest.ini .pytest.ini tox.ini mypy.ini .mypy.ini
.flake8 .pylintrc pylintrc setup.cfg pyproject.toml pytest.toml package.json build.rs config.toml config Makefile
makefile GNUmakefile justfile Justfile .justfile Taskfile.yml Taskfile.yaml taskfile.yml Rakefile rakefile .rspec
pom.xml .pnpmfile.cjs .babelrc
"""
_FILES = frozenset(_FILE_NAMES.split())
_PATTERN_NAMES = """
*.mk *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts *.config.json .*rc.js .*rc.cjs .*rc.mjs
.eslintrc* .mocharc* .babelrc.* vitest.workspace.* build.gradle* settings.gradle*
"""
_PATTERNS = re.compile("|".join(fnmatch.translate(pattern) for pattern in _PATTERN_NAMES.split()))
#: Only below `.cargo`.
_CARGO = frozenset({"config", "config.toml"})
#: Installed, generated or recorded files: runners don't look there for their configuration.
_SKIPPED_NAMES = """
.git .hg .svn .jj node_modules bower_components .venv venv site-packages .tox .nox .eggs __pycache__ .mypy_cache
.ruff_cache .pytest_cache .cache dist build target .next .gradle
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_MAX_FOLDERS = 2_000
_MAX_FILES = 300
_MAX_BYTES = 256 * 1024
_MAX_SHOWN = 64 * 1024
#: Larger files count as a whole: parsing them would take too long.
_MAX_PARSED = 32 * 1024
#: More than this is looked at, not read.
_MAX_READ = 4 * 1024 * 1024
_MAX_LINES = 400
#: A file changed so recently may change again without a new time stamp.
_TICK_NS = 50_000_000
#: Settings of a package that run nothing by themselves.
_INERT_NAMES = """
name version description keywords author contributors license private repository homepage bugs funding files engines
os cpu dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies bundledDependencies
resolutions overrides packageManager types typings sideEffects publishConfig browserslist
"""
_INERT = frozenset(_INERT_NAMES.split())
_HARMLESS_PYTEST = re.compile(r"markers|minversion|log_|junit_|console_output_style|cache_dir|norecursedirs")
#: Settings of pyproject.toml that name programs or plugins.
_TOOLS = re.compile(
    r"build-system\.|tool\.(?:pytest\.|tox\.|nox\.|hatch\.(?:envs|build)|pdm\.scripts|poe\.|taskipy\.|setuptools\.cmdclass"
    r"|(?:mypy|coverage|pylint|flake8)\b.*(?:plugins|init-hook|init_hook))"
)
_SECTIONS = re.compile(r"tool:pytest|pytest|tox|mypy|flake8|pylint|aliases|coverage|options\.entry_points", re.I)


class _Folder(NamedTuple):
    stamp: tuple[int, ...]
    files: Sequence[str]
    folders: Sequence[str]


class RunFiles:
    """Remembers folders and files by their time stamps, so that looking again costs a call for each folder."""

    def __init__(self) -> None:
        #: What was found in a place, with the time stamps of all folders and files on the way.
        self._results: dict[str, tuple[Sequence[tuple[str, tuple[int, ...]]], dict[str, str]]] = {}
        self._folders: dict[str, _Folder] = {}
        self._texts: dict[str, tuple[tuple[int, ...], str]] = {}

    def find(self, place: str) -> dict[str, str]:
        """The part of each file that can run something, by its path below `place`."""
        known = self._results.get(place)
        if known is not None and all(_stamp_of(path) == stamp for path, stamp in known[0]):
            return known[1]
        found = self._search(place)
        stamps = self._stamps(place)
        if stamps is not None:
            if len(self._results) > 100:
                self._results.clear()
            self._results[place] = (stamps, found)
        return found

    def _stamps(self, place: str) -> Sequence[tuple[str, tuple[int, ...]]] | None:
        """`None` while something is so new that it may change without a new stamp."""
        stamps: list[tuple[str, tuple[int, ...]]] = []
        waiting = [""]
        while waiting and len(stamps) < _MAX_FOLDERS:
            folder = waiting.pop(0)
            known = self._folders.get(f"{place}/{folder}")
            if known is None:
                return None
            stamps.append((f"{place}/{folder}", known.stamp))
            for path in (f"{place}/{folder}{name}" for name in known.files):
                if path not in self._texts:
                    return None
                stamps.append((path, self._texts[path][0]))
            waiting.extend(f"{folder}{name}/" for name in known.folders)
        return stamps

    def _search(self, place: str) -> dict[str, str]:
        found: dict[str, str] = {}
        room = _MAX_READ
        waiting, seen = [""], 0
        while waiting and seen < _MAX_FOLDERS:
            folder = waiting.pop(0)
            seen += 1
            known = self._look(f"{place}/{folder}")
            for name in known.files:
                if len(found) < _MAX_FILES and (text := self._read(f"{place}/{folder}{name}", room)):
                    found[f"{folder}{name}"] = text
                    room -= len(text)
            waiting.extend(f"{folder}{name}/" for name in known.folders)
        return found

    def _look(self, folder: str) -> _Folder:
        try:
            stamp = _stamp(os.stat(folder))
            known = self._folders.get(folder)
            if known is not None and known.stamp == stamp:
                return known
            known = _Folder(stamp, *_list(folder))
        except (OSError, ValueError):
            return _Folder((), (), ())
        if len(self._folders) > 10 * _MAX_FOLDERS:
            self._folders.clear()
        if not _is_recent(stamp):
            self._folders[folder] = known
        return known

    def _read(self, path: str, room: int) -> str:
        try:
            status = os.stat(path)
            stamp = _stamp(status)
            if not stat.S_ISREG(status.st_mode):
                return ""
            known = self._texts.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if status.st_size > room:
                return f"(too much to show) {stamp}"
            with os.fdopen(open_regular(path), "rb") as stream:
                content = stream.read(_MAX_BYTES + 1)
        except (OSError, ValueError):
            return ""
        text = _running_part(path.rpartition("/")[2], content.decode("utf-8", "replace"))
        if len(content) > _MAX_BYTES:
            text = f"(too long to show) {stamp}"  # don't read on: any change of the file counts
        elif len(text) > _MAX_SHOWN:
            text = f"(too long to show) {hashlib.sha256(text.encode()).hexdigest()}"
        if len(self._texts) > 10 * _MAX_FILES:
            self._texts.clear()
        if not _is_recent(stamp):
            self._texts[path] = (stamp, text)
        return text


def render_change(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[list[str], str]:
    """The files whose running part differs, and how, as a unified diff."""
    import difflib

    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    lines: list[str] = []
    for name in names:
        old, new = before.get(name), now.get(name)
        ends = ("/dev/null" if old is None else f"a/{name}", "/dev/null" if new is None else f"b/{name}")
        lines += difflib.unified_diff((old or "").splitlines(), (new or "").splitlines(), *ends, n=2, lineterm="")
    if len(lines) > _MAX_LINES:
        lines = [*lines[:_MAX_LINES], f"… {plural(len(lines) - _MAX_LINES, 'more line')}"]
    return names, "\n".join(lines)


def _stamp_of(path: str) -> tuple[int, ...]:
    try:
        return _stamp(os.stat(path))
    except (OSError, ValueError):
        return ()


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _is_recent(stamp: tuple[int, ...]) -> bool:
    return time.time_ns() - max(stamp[:2]) < _TICK_NS


def _list(folder: str) -> tuple[list[str], list[str]]:
    files, folders = [], []
    below_cargo = folder.rstrip("/").endswith("/.cargo")
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in _SKIPPED:
                    folders.append(name)
            elif (name in _FILES and (below_cargo or name not in _CARGO)) or _PATTERNS.match(name):
                files.append(name)
    return sorted(files), sorted(folders)


def _running_part(name: str, text: str) -> str:
    """What can run something; the whole text of a file that can't be parsed."""
    parse: Callable[[str], Iterator[str]] | None = {
        "package.json": _package,
        "pyproject.toml": _pyproject,
        "setup.cfg": _sections,
    }.get(name)
    if parse is None or len(text) > _MAX_PARSED:
        return text
    try:
        return "\n".join(sorted(parse(text)))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return text


def _package(text: str) -> Iterator[str]:
    settings = json.loads(text)
    return _flat({key: value for key, value in settings.items() if key not in _INERT})


def _pyproject(text: str) -> Iterator[str]:
    import tomllib

    for line in _flat(tomllib.loads(text)):
        pytest = line.removeprefix("tool.pytest.").removeprefix("ini_options.")
        if _TOOLS.match(line) and not (pytest != line and _HARMLESS_PYTEST.match(pytest)):
            yield line


def _sections(text: str) -> Iterator[str]:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(text[:100]) from error
    for section in parser.sections():
        if _SECTIONS.match(section):
            yield from (f"{section}.{key} = {value}" for key, value in parser.items(section))


def _flat(value: object, name: str = "") -> Iterator[str]:
    """One line for each setting."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"
