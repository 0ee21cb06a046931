"""A walk through a workspace: every file that is somebody's own, and how it lies on the disk. Nothing is read.

What Git tracks is always seen. Else what a `.gitignore` names, packages that were installed, and caches are left out.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from tools.errors import ToolError
from tools.gitignore import Ignored
from tools.local.repository import Repository, Stamp, stamp_of
from tools.local.root import WorkspaceRoot

MOST_FILES = 50_000
_SECONDS = 2.0
_DEEPEST = 200
_RULES = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Made anew by whoever needs them; nobody would want them back.
_CACHE_NAMES = """
.git .hg .svn __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache .tox .nox .gradle .parcel-cache
.turbo .next .nuxt .DS_Store
"""
_CACHES = frozenset(_CACHE_NAMES.split())
_INSTALLED = frozenset({"node_modules", ".venv", "venv", "site-packages", "bower_components"})
_NAME = attrgetter("name")
_KIND = 0o170000
_KEPT_KINDS = (stat.S_IFREG, stat.S_IFLNK)


class TooMuch(Exception):
    """There is more than a look around a command may take; the reason in words."""


class Listing:
    """The files of a workspace at one moment, by directory. It is never changed: another moment has another one."""

    def __init__(self, folders: Mapping[str, dict[str, Stamp]] | None = None) -> None:
        self.folders = folders or {}

    @classmethod
    def of(cls, files: Mapping[str, Stamp]) -> "Listing":
        folders: dict[str, dict[str, Stamp]] = {}
        for path, stamp in files.items():
            folder, slash, name = path.rpartition("/")
            folders.setdefault(folder + slash, {})[name] = stamp
        return cls(folders)

    def get(self, path: str) -> Stamp | None:
        folder, slash, name = path.rpartition("/")
        return self.folders.get(folder + slash, {}).get(name)

    def __iter__(self) -> Iterator[tuple[str, Stamp]]:
        for folder, names in self.folders.items():
            for name, stamp in names.items():
                yield folder + name, stamp

    def __len__(self) -> int:
        return sum(map(len, self.folders.values()))


@dataclass(slots=True)
class Walked:
    """What a walk found, and what of it is not as it was in an earlier listing."""

    known: Mapping[str, dict[str, Stamp]]
    most: int
    deadline: float
    folders: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    changed: dict[str, Stamp] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    #: What was left out by rule, each with the stamp of itself: a sign that something happened there, no more.
    left_out: dict[str, Stamp] = field(default_factory=dict)
    total: int = 0


class Walker:
    def __init__(self, root: WorkspaceRoot, repository: Repository) -> None:
        self._root = root
        self._repository = repository
        #: The rules of a directory, with those above it and the file that they were read from.
        self._rules: dict[str, tuple[Ignored, Stamp, Ignored]] = {}
        self._verdicts: dict[str, tuple[Ignored, bool]] = {}
        self._nothing = Ignored()

    def walk(self, known: Listing, most: int = MOST_FILES) -> Walked:
        walked = Walked(known.folders, most, time.monotonic() + _SECONDS)
        handle = self._root.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._visit(handle, "", self._excluded(), walked, 0)
        finally:
            os.close(handle)
        for prefix in known.folders.keys() - walked.folders.keys():
            walked.gone |= {prefix + name for name in known.folders[prefix]}
        return walked

    def _visit(self, handle: int, prefix: str, rules: Ignored, walked: Walked, depth: int) -> None:
        with os.scandir(handle) as found:
            entries = list(islice(found, 2 * walked.most + 1))
        if len(entries) > 2 * walked.most:
            raise TooMuch(f"A directory of the workspace has more than {2 * walked.most:,} entries")
        if ".gitignore" in map(_NAME, entries):
            rules = self._below(handle, prefix, rules)
        known = walked.known.get(prefix, {})
        as_known, same = known.get, 0
        others: list[os.DirEntry[str]] = []
        # Every file of the workspace comes through here, before and after each command.
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                path = prefix + entry.name
                if path in self._repository.folders or not self._shut(entry, path, rules, walked):
                    self._enter(handle, entry.name, f"{path}/", rules, walked, depth + 1)
                continue
            try:
                if as_known(entry.name) == stamp_of(entry.stat(follow_symlinks=False)):
                    same += 1
                else:
                    others.append(entry)
            except OSError:
                continue  # it went away while we looked
        walked.total += same
        if others or same < len(known):
            self._sort_out(entries, others, prefix, rules, walked)
        elif known:
            walked.folders[prefix] = known
        if walked.total > walked.most:
            raise TooMuch(f"The workspace has more than {walked.most:,} files of its own")
        if time.monotonic() > walked.deadline:
            raise TooMuch(f"Looking at the workspace's files takes longer than {_SECONDS:g} s")

    def _sort_out(
        self,
        entries: Sequence["os.DirEntry[str]"],
        others: Sequence["os.DirEntry[str]"],
        prefix: str,
        rules: Ignored,
        walked: Walked,
    ) -> None:
        """A directory that is not as it was: what is new in it, and what is gone."""
        known, here = walked.known.get(prefix, {}), {entry.name for entry in entries}
        changed: dict[str, Stamp] = {}
        ruled, tracked = rules is not self._nothing, self._repository.tracked
        for entry in others:
            stamp, path = stamp_of(entry.stat(follow_symlinks=False)), prefix + entry.name
            if ruled and path not in tracked and self._ignores(rules, path, directory=False):
                walked.left_out[path] = stamp
            elif stamp[0] & _KIND in _KEPT_KINDS:
                changed[entry.name] = walked.changed[path] = stamp
                continue
            here.discard(entry.name)
        here -= {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
        walked.total += len(changed)
        walked.gone |= {prefix + name for name in known.keys() - here}
        if now := {name: stamp for name, stamp in known.items() if name in here} | changed:
            walked.folders[prefix] = now

    def _enter(self, handle: int, name: str, prefix: str, rules: Ignored, walked: Walked, depth: int) -> None:
        if depth > _DEEPEST:
            return
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=handle)
        except OSError:
            return
        try:
            self._visit(inner, prefix, rules, walked, depth)
        finally:
            os.close(inner)

    def _shut(self, entry: "os.DirEntry[str]", path: str, rules: Ignored, walked: Walked) -> bool:
        if entry.name in _CACHES or path == self._root.private:
            return True
        if entry.name in _INSTALLED or (rules is not self._nothing and self._ignores(rules, path, directory=True)):
            with suppress(OSError):
                walked.left_out[f"{path}/"] = stamp_of(entry.stat(follow_symlinks=False))
            return True
        return False

    def _ignores(self, rules: Ignored, path: str, *, directory: bool) -> bool:
        known = self._verdicts.get(path)
        if known is not None and known[0] is rules:
            return known[1]
        if len(self._verdicts) > 2 * MOST_FILES:
            self._verdicts.clear()
        verdict = rules(path, directory=directory)
        self._verdicts[path] = (rules, verdict)
        return verdict

    def _excluded(self) -> Ignored:
        with suppress(ToolError):
            handle = self._root.open(".git/info", os.O_RDONLY | os.O_DIRECTORY)
            try:
                return self._below(handle, "", self._nothing, "exclude")
            finally:
                os.close(handle)
        return self._nothing

    def _below(self, handle: int, prefix: str, above: Ignored, name: str = ".gitignore") -> Ignored:
        """The rules above, with those of a directory's own file."""
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
        except OSError:
            return above
        try:
            now = stamp_of(os.fstat(file))
            key = f"{prefix}{name}"
            known = self._rules.get(key)
            if known is not None and known[0] is above and known[1] == now:
                return known[2]
            text = os.read(file, _RULES).decode("utf-8", "surrogateescape") if stat.S_ISREG(now[0]) else ""
            rules = above.below(prefix.rstrip("/"), text)
            self._rules[key] = (above, now, rules)
            return rules
        except OSError:
            return above
        finally:
            os.close(file)
