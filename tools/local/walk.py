"""A walk through a workspace: every file that is somebody's own, and how it lies on the disk. Nothing is read.

What Git tracks is always seen. Else what a `.gitignore` names, packages that were installed, and caches are left out.
"""

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from tools.builtin.gitignore import Ignored
from tools.errors import ToolError
from tools.local.door import Door
from tools.local.repository import Repository, Stamp, stamp_of

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
_OUR_OWN = ".brain-tmp"


class TooMuch(Exception):
    """There is more than a look around a command may take; the reason in words."""


@dataclass(slots=True)
class Walked:
    most: int
    files: dict[str, Stamp] = field(default_factory=dict)
    #: What was left out by rule, each with the stamp of itself: a sign that something happened there, no more.
    left_out: dict[str, Stamp] = field(default_factory=dict)


class Walker:
    def __init__(self, door: Door, repository: Repository) -> None:
        self._door = door
        self._repository = repository
        #: The rules of a directory, with those above it and the file that they were read from.
        self._rules: dict[str, tuple[Ignored, Stamp, Ignored]] = {}
        self._verdicts: dict[str, tuple[Ignored, bool]] = {}
        self._nothing = Ignored()

    def walk(self, most: int = MOST_FILES) -> Walked:
        walked = Walked(most)
        deadline = time.monotonic() + _SECONDS
        handle = self._door.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            rules = self._excluded()
            self._visit(handle, "", rules, walked, 0, deadline)
        finally:
            os.close(handle)
        return walked

    def _visit(self, handle: int, prefix: str, rules: Ignored, walked: Walked, depth: int, deadline: float) -> None:
        with os.scandir(handle) as found:
            entries = list(islice(found, 2 * walked.most + 1))
        if len(entries) > 2 * walked.most:
            raise TooMuch(f"A directory of the workspace has more than {2 * walked.most:,} entries")
        if any(entry.name == ".gitignore" for entry in entries):
            rules = self._below(handle, prefix, rules)
        files, tracked, folders = walked.files, self._repository.tracked, self._repository.folders
        ruled = rules is not self._nothing
        for entry in entries:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if path in folders or not self._shut(entry, path, rules, walked):
                    self._enter(handle, entry.name, f"{path}/", rules, walked, depth + 1, deadline)
                continue
            try:
                stamp = stamp_of(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # it went away while we looked
            if ruled and path not in tracked and self._ignores(rules, path, directory=False):
                walked.left_out[path] = stamp
            elif (stat.S_ISREG(stamp[0]) or stat.S_ISLNK(stamp[0])) and not entry.name.endswith(_OUR_OWN):
                files[path] = stamp
        if len(files) > walked.most:
            raise TooMuch(f"The workspace has more than {walked.most:,} files of its own")
        if time.monotonic() > deadline:
            raise TooMuch(f"Looking at the workspace's files takes longer than {_SECONDS:g} s")

    def _enter(
        self, handle: int, name: str, prefix: str, rules: Ignored, walked: Walked, depth: int, deadline: float
    ) -> None:
        if depth > _DEEPEST:
            return
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=handle)
        except OSError:
            return
        try:
            self._visit(inner, prefix, rules, walked, depth, deadline)
        finally:
            os.close(inner)

    def _shut(self, entry: "os.DirEntry[str]", path: str, rules: Ignored, walked: Walked) -> bool:
        if entry.name in _CACHES or path == self._door.private:
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
            handle = self._door.open(".git/info", os.O_RDONLY | os.O_DIRECTORY)
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
