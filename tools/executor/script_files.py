"""Finds the files that a command would run, with their content.

Those are its programs, the scripts and configurations that the command line names or that its programs read by
convention (`make` a Makefile, `npm` a package.json, `python -m` a module), and the scripts that those name in turn.
Too many files are better than too few: a question more is cheaper than a question less.
"""

# Called with every question and with every approval for a workspace: building a Path costs more than the call itself.
# ruff: noqa: PTH111, PTH112, PTH116, PTH118, PTH120, PTH208

import fnmatch
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import NamedTuple

from tools.policy import shell

_MAX_HASHED = 64 * 1024 * 1024
#: Files whose text is searched for further scripts, and shown when it changes.
_MAX_TEXT = 256 * 1024
_MAX_FILES = 300
_MAX_WORDS = 2_000
_MAX_BASES = 8
_DEPTH = 4
_QUOTING = re.compile(r"[\\'\"]")
_WORDS = re.compile(r"[^\s;|&()<>`$={},]+")
_REFERENCES = re.compile(r"[\w./@+-]+")
_VERSION = re.compile(r"\d+(?:\.\d+)*\Z")
_SUFFIXES = ("", ".py", ".sh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".mk")
_ENTRIES = ("__main__.py", "__init__.py", "index.js", "index.mjs", "index.ts", "package.json", "Makefile", "makefile")
_CODE_NAMES = """
.py .sh .bash .zsh .js .mjs .cjs .ts .tsx .jsx .rb .pl .php .lua .mk .make .cmake .gradle .kts .bat .ps1
"""
_CODE = frozenset(_CODE_NAMES.split())
#: Programs that don't run what the files they are given contain. Every other program may.
_DATA_TOOL_NAMES = """
echo printf cat tee touch mkdir rmdir rm cp mv ln ls head tail grep rg sed awk sort uniq wc cut tr diff cmp find fd
chmod chown stat file du df tar gzip gunzip zip unzip jq date true false test [ pwd whoami id uname sleep seq
basename dirname realpath readlink git curl wget ssh scp rsync cd export exit kill ps
"""
_DATA_TOOLS = frozenset(_DATA_TOOL_NAMES.split())
_OUTPUTS = re.compile(r">{1,2}[|&]?\s*[\"']?([^\s;|&()<>`\"']+)")
#: Files that a program reads without being told, in its directory and those above it.
_CONVENTIONS = """
make gmake: Makefile makefile GNUmakefile *.mk
npm npx pnpm yarn bun node: package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml
npm npx pnpm yarn bun node: *.config.js *.config.mjs *.config.cjs *.config.ts .*rc.js .*rc.cjs .*rc.json
vite vitest jest eslint prettier tsc webpack rollup: package.json *.config.js *.config.mjs *.config.cjs *.config.ts
vite vitest jest eslint prettier tsc webpack rollup: .*rc.js .*rc.cjs .*rc.json
pytest py.test tox nox unittest python uv poetry pdm hatch mypy ruff: conftest.py pyproject.toml pytest.ini tox.ini
pytest py.test tox nox unittest python uv poetry pdm hatch mypy ruff: setup.cfg setup.py noxfile.py sitecustomize.py
cargo: Cargo.toml build.rs .cargo/config.toml .cargo/config rust-toolchain.toml
go: go.mod go.work
just: justfile Justfile .justfile
task: Taskfile.yml Taskfile.yaml taskfile.yml
rake bundle rspec ruby: Rakefile rakefile Gemfile .rspec
gradle gradlew: build.gradle build.gradle.kts settings.gradle settings.gradle.kts
mvn mvnw: pom.xml .mvn/jvm.config .mvn/maven.config
cmake ctest: CMakeLists.txt CMakePresets.json
ninja: build.ninja
meson: meson.build
ant: build.xml
composer: composer.json
deno: deno.json deno.jsonc
mix: mix.exs
docker podman docker-compose: Dockerfile compose.yaml compose.yml docker-compose.yml
pre-commit: .pre-commit-config.yaml
git: .git/config .git/hooks/* .githooks/* .husky/* .gitattributes
"""


class BoundFile(NamedTuple):
    digest: str
    text: str | None


class ScriptSearch:
    """Finds the files that a command would run."""

    def __init__(self, cwd: str, workspace: str, path: str) -> None:
        self._cwd = cwd
        self._workspace = workspace.rstrip("/")
        self._path = path
        self._found: dict[str, BoundFile] = {}
        #: Whether the content of every file that the line names may be run.
        self._all = True
        self._open: list[tuple[str, int]] = []

    def files(self, command: str | Sequence[str]) -> dict[str, BoundFile]:
        words = _words_of(command)
        names = shell.names(command) if isinstance(command, str) else [command[0]]
        programs = {name.rpartition("/")[2] for name in (*names, *words)}
        for name in names:
            self._take_program(name)
        self._all = any(name.rpartition("/")[2] not in _DATA_TOOLS for name in names)
        bases = [self._cwd, *(place for word in words if (place := self._directory(word)))][:_MAX_BASES]
        for base in bases:
            for word in words:
                self._take_word(word, base)
            for program in programs:
                self._take_conventional(_VERSION.sub("", program), base)
        while self._open and len(self._found) < _MAX_FILES:
            path, depth = self._open.pop(0)
            self._follow(path, depth, bases)
        return self._found

    def _take_program(self, name: str) -> None:
        place = os.path.join(self._cwd, name) if "/" in name else shutil.which(name, path=self._path)
        # Also which file it is: a link may be turned to another one with the same content.
        real = os.path.realpath(place) if place else ""
        self._found[f"program {name}"] = BoundFile(f"{real} {_hash_file(real)}", None)
        if real and "/" in name:
            self._take(real, 0)

    def _directory(self, word: str) -> str | None:
        place = os.path.normpath(os.path.join(self._cwd, word))
        return place if place != self._cwd and os.path.isdir(place) and not place.startswith("/proc") else None

    def _take_word(self, word: str, base: str) -> None:
        if any(char in word for char in "*?["):
            for name in _matches(base, word):
                if self._all or _is_script(name):
                    self._take(name, 0)
            return
        place = os.path.normpath(os.path.join(base, os.path.expanduser(word)))
        for suffix in _SUFFIXES:
            if self._all or _is_script(place + suffix):
                self._take(place + suffix, 0)
        if not self._all:
            return
        if os.path.isdir(place):
            for entry in _ENTRIES:
                self._take(os.path.join(place, entry), 0)
        elif "." in word and "/" not in word:
            self._take_module(word, base, 0)

    def _take_module(self, dotted: str, base: str, depth: int) -> None:
        for root in (base, f"{base}/src"):
            place = f"{root}/{dotted.replace('.', '/')}"
            for path in (f"{place}.py", f"{place}/__main__.py", f"{place}/__init__.py"):
                self._take(path, depth)

    def _take_conventional(self, program: str, base: str) -> None:
        for pattern in _conventions().get(program, ()):
            for folder in self._upwards(base):
                if "*" in pattern:
                    for name in _matches(folder, pattern):
                        self._take(name, 0)
                else:
                    self._take(f"{folder}/{pattern}", 0)

    def _upwards(self, base: str) -> Iterator[str]:
        yield base
        while base.startswith(f"{self._workspace}/"):
            base = os.path.dirname(base)
            yield base

    def _take(self, path: str, depth: int) -> None:
        if path in self._found or len(self._found) >= _MAX_FILES:
            return
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return
        if not stat.S_ISREG(status.st_mode):
            return
        real = os.path.realpath(path)
        text = _read_text(path) if status.st_size <= _MAX_TEXT else None
        self._found[path] = BoundFile(f"{real} {_hash_file(real)}", text)
        if text is not None and depth < _DEPTH:
            self._open.append((path, depth))

    def _follow(self, path: str, depth: int, bases: Sequence[str]) -> None:
        """Scripts that a script names, relative to itself or to where the command runs."""
        text = self._found[path].text or ""
        if path.endswith("package.json"):
            text = _scripts(text)
        folders = {os.path.dirname(path), *bases}
        listings = {folder: _listing(folder) for folder in folders}
        for word in list(dict.fromkeys(_REFERENCES.findall(text)))[:_MAX_WORDS]:
            first = word.removeprefix("./").partition("/")[0].partition(".")[0]
            for folder, names in listings.items():
                if first in names or word.startswith(("../", "/")):
                    self._take_reference(word, folder, depth + 1)

    def _take_reference(self, word: str, folder: str, depth: int) -> None:
        place = os.path.normpath(os.path.join(folder, word))
        if not f"{place}/".startswith(f"{self._workspace}/"):
            return
        for suffix in _SUFFIXES:
            if _is_code(place + suffix):
                self._take(place + suffix, depth)
        for entry in _ENTRIES[:5]:
            self._take(f"{place}/{entry}", depth)
        if "/" not in word:
            self._take_module(word, folder, depth)


def _words_of(command: str | Sequence[str]) -> list[str]:
    """Every word of a command line that may name a file, also as the value of an option."""
    lines = list(command)
    if isinstance(command, str):
        inputs = _OUTPUTS.sub(" ", command)
        lines = [inputs, _QUOTING.sub("", inputs)]
    found: dict[str, None] = {} if isinstance(command, str) else dict.fromkeys(command)
    for line in lines:
        for word in _WORDS.findall(line):
            plain = word.strip("\"'\\")
            found[plain] = None
            if plain.startswith("-"):
                found[plain[2:]] = None
            if ":" in plain:
                found[plain.rpartition(":")[2]] = None
    return [word for word in found if word and "\0" not in word and len(word) < 4_096][:_MAX_WORDS]


def _matches(folder: str, pattern: str) -> list[str]:
    """The files in one directory that a pattern means; `*` in a directory's name counts as any directory."""
    head, _, last = pattern.rpartition("/")
    folders = [os.path.normpath(os.path.join(folder, head))]
    if any(char in head for char in "*?["):
        folders = [os.path.join(folder, name) for name in sorted(_names(folder))]
    found = [f"{place}/{name}" for place in folders for name in sorted(_names(place)) if fnmatch.fnmatch(name, last)]
    return found[:_MAX_FILES]


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return ()


def _listing(folder: str) -> frozenset[str]:
    """The names in a directory, without what follows the first dot."""
    return frozenset(name.partition(".")[0] for name in _names(folder))


def _is_code(path: str) -> bool:
    suffix = "." + path.rpartition("/")[2].rpartition(".")[2] if "." in path.rpartition("/")[2] else ""
    return suffix in _CODE or (not suffix and os.access(path, os.X_OK) and not os.path.isdir(path))


def _is_script(path: str) -> bool:
    return _is_code(path) or (_read_text(path) or "").startswith("#!")


def _scripts(text: str) -> str:
    """What package.json runs."""
    try:
        scripts = json.loads(text).get("scripts", {})
        return "\n".join(str(each) for each in scripts.values())
    except (ValueError, AttributeError):
        return text


def _read_text(path: str) -> str | None:
    with suppress(OSError, ValueError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            content = stream.read(_MAX_TEXT + 1)
        return None if b"\0" in content[:8192] else content.decode("utf-8", "replace")
    return None


def _hash_file(path: str) -> str:
    """By content; a very large program by what the file system says of it."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "missing"
    stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_HASHED:
        return repr(stamp)
    # Small files are cheap to read, and a clock of one tick must not hide a change.
    return _hash_now(path) if found.st_size <= _MAX_TEXT else _hash_large(path, stamp)


@lru_cache(maxsize=256)
def _hash_large(path: str, stamp: tuple[int, ...]) -> str:
    return _hash_now(path)


def _hash_now(path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return "unreadable"


@cache
def _conventions() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for line in _CONVENTIONS.strip().splitlines():
        programs, _, files = line.partition(": ")
        for program in programs.split():
            found.setdefault(program, []).extend(files.split())
    return found
