"""Finds the files that a command would run, with their content.

Those are its programs, the scripts and configurations that the command line names or that its programs read by
convention (`make` a Makefile, `npm` a package.json, `python -m` a module), and the scripts that those name in turn.
Some programs run the whole project (`go run .`, `find -exec`): then every source file counts.
Too many files are better than too few: one approval too many
does less harm than one too few.
"""

# Called with every question and with every approval for a workspace: building a Path costs more than the call itself.
# ruff: noqa: PTH111, PTH112, PTH116, PTH118, PTH120, PTH208

import fnmatch
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from sidecar.config.paths import open_regular
from sidecar.config.run_files import RunFiles
from tools.executor.script_words import imported, package_text, programs, references, words_of, workspace_patterns
from tools.policy import shell

_MAX_HASHED = 64 * 1024 * 1024
#: Files whose text is searched for further scripts, and shown when it changes.
_MAX_TEXT = 256 * 1024
_MAX_FILES = 300
#: Source files of a whole project that are hashed by content, and those that are looked at.
_MAX_SOURCES = 5_000
_MAX_WALKED = 50_000
_MAX_BASES = 8
_DEPTH = 4
#: The prefix of a program's name in the result.
PROGRAM = "program "
_VERSION = re.compile(r"\d+(?:\.\d+)*\Z")
_SUFFIXES = ("", ".py", ".sh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".pm", ".mk")
_ENTRIES = ("__main__.py", "__init__.py", "index.js", "index.mjs", "index.ts", "package.json", "Makefile", "makefile")
_CODE_NAMES = """
.py .sh .bash .zsh .fish .js .mjs .cjs .ts .mts .cts .tsx .jsx .rb .pl .pm .php .lua .mk .make .cmake .gradle .kts
.bat .ps1 .go .rs .c .cc .cpp .cxx .h .hpp .java .kt .scala .sbt .cs .fs .swift .ex .exs .erl .tf .tfvars .sql .awk
.sed .r .jl .vim .el .clj .hs .ml .zig .nim .dart
"""
_CODE = frozenset(_CODE_NAMES.split())
#: Programs that run or build whatever the project contains.
_WHOLE_NAMES = """
go cargo gradle gradlew mvn mvnw sbt bazel terraform tofu dotnet swift mix pytest py.test unittest tox nox jest vitest
mocha ava phpunit rspec ctest nextest ansible-playbook xargs parallel
"""
_WHOLE = frozenset(_WHOLE_NAMES.split())
#: The same, but only with one of these words.
_WHOLE_WITH = {
    "find": ("-exec", "-execdir", "-ok", "-okdir"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "node": ("--test",),
    "deno": ("test",),
    "bun": ("test",),
}
#: Folders that hold no source of the project.
_SKIPPED_NAMES = ".git .hg .svn .jj node_modules .venv venv __pycache__ .tox .nox .mypy_cache .cache"
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
#: Programs that don't run what the files they are given contain. Every other program may.
_DATA_TOOL_NAMES = """
echo printf cat tee touch mkdir rmdir rm cp mv ln ls head tail grep rg sed awk sort uniq wc cut tr diff cmp find fd
chmod chown stat file du df tar gzip gunzip zip unzip jq date true false test [ pwd whoami id uname sleep seq
basename dirname realpath readlink git curl wget ssh scp rsync cd export exit kill ps
"""
_DATA_TOOLS = frozenset(_DATA_TOOL_NAMES.split())
#: Files that a program reads by itself, in its directory and those above it.
_CONVENTIONS = """
make gmake: Makefile makefile GNUmakefile *.mk
npm npx pnpm yarn bun node: package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml
npm npx pnpm yarn bun node: *.config.js *.config.mjs *.config.cjs *.config.ts .*rc.js .*rc.cjs .*rc.json
vite vitest jest eslint prettier tsc webpack rollup: package.json *.config.js *.config.mjs *.config.cjs *.config.ts
vite vitest jest eslint prettier tsc webpack rollup: .*rc.js .*rc.cjs .*rc.json
pytest py.test tox nox unittest python uv poetry pdm hatch mypy ruff: conftest.py pyproject.toml pytest.ini tox.ini
pytest py.test tox nox unittest python uv poetry pdm hatch mypy ruff: setup.cfg setup.py noxfile.py sitecustomize.py
mypy pylint flake8 tox: mypy.ini .mypy.ini .pylintrc pylintrc .flake8
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
    """Finds the files that a command would run. `whole`: also all of a project, for a program that runs all of it."""

    def __init__(self, cwd: str, workspace: str, path: str, *, whole: bool = True) -> None:
        self._cwd = cwd
        self._workspace = workspace.rstrip("/")
        self._path = path
        self._whole = whole
        self._found: dict[str, BoundFile] = {}
        #: Whether the content of every file that the line names may be run.
        self._all = True
        self._runs_project = False
        self._open: list[tuple[str, int]] = []
        self._listings: dict[str, frozenset[str]] = {}
        self._programs: set[tuple[str, str]] = set()

    def files(self, command: str | Sequence[str]) -> dict[str, BoundFile]:
        words = words_of(command)
        names = shell.names(command) if isinstance(command, str) else [command[0]]
        for name in names:
            self._take_program(name)
        self._all = not names or any(_runs_files(name.rpartition("/")[2], words) for name in names)
        bases = [self._cwd, *(place for word in words for place in self._directories(word))][:_MAX_BASES]
        for base in bases:
            for word in words:
                self._take_word(word, base)
        self._note_programs([*names, *words], bases, words)
        # Where all of the project counts, nothing needs to be followed.
        while self._open and len(self._found) < _MAX_FILES and not (self._runs_project and self._whole):
            path, depth = self._open.pop(0)
            self._follow(path, depth, bases)
        if self._runs_project or len(self._found) >= _MAX_FILES:
            self._take_project()
        return self._found

    def _note_programs(self, names: Sequence[str], bases: Sequence[str], words: Sequence[str], depth: int = 0) -> None:
        """Programs that a command line or a script may start, with what they read by convention."""
        known = _conventions()
        for word in dict.fromkeys(names):
            program = _VERSION.sub("", word.rpartition("/")[2])
            # A script deep inside may mention many programs that this command never starts.
            if depth == 0 and (program in _WHOLE or not {*_WHOLE_WITH.get(program, ())}.isdisjoint(words)):
                self._runs_project = True
            for base in bases:
                if "/" not in word:
                    for folder in self._upwards(base):
                        if "node_modules" in self._listing(folder):
                            self._take(f"{folder}/node_modules/.bin/{word}", _DEPTH)
                if program in known and (program, base) not in self._programs:
                    self._programs.add((program, base))
                    self._take_conventional(program, base)

    def _take_project(self) -> None:
        """What runs by convention at any depth, and, if that is wanted, every source file."""
        for name, text in RunFiles().find(self._workspace).items():
            self._found.setdefault(f"{self._workspace}/{name}", BoundFile(_hash_text(text), text))
        if not self._whole:
            return
        count = 0
        for path in _walk(self._workspace):
            if path not in self._found and _is_code(path):
                count += 1
                if count <= _MAX_SOURCES:
                    self._take(path, _DEPTH, most=_MAX_WALKED)
                else:
                    self._found[path] = BoundFile(_stamp(path), None)

    def _take_program(self, name: str) -> None:
        place = os.path.join(self._cwd, name) if "/" in name else shutil.which(name, path=self._path)
        # Also which file it is: a link may be turned to another one with the same content.
        real = os.path.realpath(place) if place else ""
        self._found[f"{PROGRAM}{name}"] = BoundFile(f"{real} {_hash_file(real)}", None)
        if real and "/" in name:
            self._take(real, 0)

    def _directories(self, word: str) -> Iterator[str]:
        for place in self._places(word, self._cwd):
            if place != self._cwd and os.path.isdir(place) and not place.startswith("/proc"):
                yield place

    def _take_word(self, word: str, base: str) -> None:
        if any(char in word for char in "*?["):
            for name in _matches(base, word):
                if self._all or _is_script(name):
                    self._take(name, 0)
            return
        for place in self._places(word, base):
            for suffix in _SUFFIXES:
                if self._all or _is_script(place + suffix):
                    self._take(place + suffix, 0)
            if self._all and os.path.isdir(place):
                for entry in _ENTRIES:
                    self._take(os.path.join(place, entry), 0)
        if self._all and "." in word and "/" not in word:
            self._take_module(word, base, 0)

    def _places(self, word: str, base: str) -> list[str]:
        """Where a word may lead; after a variable that we don't know, also below here."""
        places = [os.path.normpath(os.path.join(base, os.path.expanduser(word)))]
        if word.startswith("/") and word.strip("/"):
            places.append(os.path.normpath(os.path.join(base, word.lstrip("/"))))
        return places

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

    def _take(self, path: str, depth: int, most: int = _MAX_FILES) -> None:
        if path in self._found or len(self._found) >= most:
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
        text, here = self._found[path].text or "", os.path.dirname(path)
        if path.endswith("package.json"):
            for pattern in workspace_patterns(text):
                for name in _matches(here, f"{pattern.rstrip('/')}/package.json"):
                    self._take(name, depth + 1)
            text = package_text(text)
        words = dict(references(text))
        firsts = {word: word.lstrip("./").partition("/")[0].partition(".")[0] for word in words}
        folders = [*dict.fromkeys([here, *bases])]
        entered = (
            place
            for base in folders
            for word, first in firsts.items()
            if first in self._listing(base) and (place := _below(base, word))
        )
        folders = [*folders, *islice(entered, _MAX_BASES)]
        listings = {folder: self._listing(folder) for folder in folders}
        for word, runs in words.items():
            first = firsts[word]
            for folder, names in listings.items():
                if first in names or word.startswith("../") or "*" in first:
                    self._take_reference(word, folder, depth + 1, runs=runs)
        for module in imported(text):
            for folder, names in listings.items():
                if module.partition(".")[0] in names or "src" in names:
                    self._take_module(module, folder, depth + 1)
        inside = [folder for folder in folders if self._is_inside(folder)]
        self._note_programs(programs(text), inside, list(words), depth)

    def _take_reference(self, word: str, folder: str, depth: int, *, runs: bool) -> None:
        if any(char in word for char in "*?"):
            for name in _matches(folder, word):
                if self._is_inside(name) and (runs or _is_code(name)):
                    self._take(name, depth)
            return
        for place in self._places(word, folder):
            if not self._is_inside(place):
                continue
            for suffix in _SUFFIXES:
                if _is_code(place + suffix) or (runs and not suffix):
                    self._take(place + suffix, depth)
            for entry in _ENTRIES[:5]:
                self._take(f"{place}/{entry}", depth)
        if "/" not in word:
            self._take_module(word, folder, depth)

    def _listing(self, folder: str) -> frozenset[str]:
        """The names in a directory, without what follows the first dot."""
        known = self._listings.get(folder)
        if known is None:
            known = frozenset(name.partition(".")[0] for name in _names(folder))
            self._listings[folder] = known
        return known

    def _is_inside(self, place: str) -> bool:
        return f"{place}/".startswith(f"{self._workspace}/")


def _runs_files(program: str, words: Sequence[str]) -> bool:
    """Whether a program may run what the files it is given contain."""
    if program in ("sed", "awk", "gawk", "mawk"):
        return any(word.startswith(("-f", "--file")) for word in words)
    return program not in _DATA_TOOLS or not {*_WHOLE_WITH.get(program, ())}.isdisjoint(words)


def _below(base: str, word: str) -> str | None:
    """A directory that a script may change to."""
    place = os.path.normpath(os.path.join(base, word.lstrip("/")))
    return place if word not in (".", "..", "/") and place != base and os.path.isdir(place) else None


def _walk(workspace: str) -> Iterator[str]:
    folders, seen = [workspace], 0
    while folders and seen < _MAX_WALKED:
        try:
            entries = sorted(os.scandir(folders.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED:
                    folders.append(entry.path)
            else:
                yield entry.path


def _matches(folder: str, pattern: str) -> list[str]:
    """The files that a pattern means, as the shell would expand it."""
    places = ["/" if pattern.startswith("/") else folder]
    parts = [part for part in pattern.split("/") if part]
    for part in parts[:-1]:
        wild = any(char in part for char in "*?[")
        found = [f"{place}/{name}" for place in places for name in (_fitting(place, part) if wild else [part])]
        places = [place for place in found if os.path.isdir(place)][:_MAX_FILES]
    found = [f"{place}/{name}" for place in places for name in _fitting(place, parts[-1] if parts else "")]
    return [os.path.normpath(name) for name in found[:_MAX_FILES]]


def _fitting(folder: str, pattern: str) -> list[str]:
    return [name for name in sorted(_names(folder)) if fnmatch.fnmatch(name, pattern)]


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return ()


def _is_code(path: str) -> bool:
    suffix = "." + path.rpartition("/")[2].rpartition(".")[2] if "." in path.rpartition("/")[2] else ""
    return suffix in _CODE or (not suffix and os.access(path, os.X_OK) and not os.path.isdir(path))


def _is_script(path: str) -> bool:
    return _is_code(path) or (_read_text(path) or "").startswith("#!")


def _read_text(path: str) -> str | None:
    with suppress(OSError, ValueError):
        handle = open_regular(path)
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


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "missing"
    return repr((found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


@lru_cache(maxsize=256)
def _hash_large(path: str, stamp: tuple[int, ...]) -> str:
    return _hash_now(path)


def _hash_now(path: str) -> str:
    try:
        handle = open_regular(path)
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
