"""The protected files of a workspace at one moment.

It lists a directory again only when its change time differs, which no program can set, so a look at a large workspace
costs one system call for each directory. In a `.git` directory it looks only at what starts programs: commits must
work.
"""

# Runs before and after every command: building a Path would cost more than the system call.
# ruff: noqa: PTH115

import os
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from sidecar.config.paths import closed_after
from tools.local.repository.view import HooksPath
from tools.paths import parents
from tools.protected import fold_name, may_be_protected, protected_part

#: Large generated directories without protected files.
_SKIPPED = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build", "__pycache__"})
#: Upper directories come first, so only deep ones of a very large workspace are beyond the limit.
_MAX_FOLDERS = 20_000
_QUICK_FOLDERS = 100
_MAX_FILE_BYTES = 256 * 1024
_MAX_BYTES = 16 * 1024 * 1024
#: A directory that changed this recently, in nanoseconds, may change again within the same timestamp.
_YOUNG = 50_000_000
#: Files that start programs, in a `.git` directory and those of its worktrees and modules.
_GIT_FILES = ("config", "config.worktree", "commondir", "info/attributes")
_GIT_SKIPPED = frozenset({"objects", "refs", "logs", "hooks", "info", "lfs", "rr-cache"})


class ProtectedFile(NamedTuple):
    """`content` is the bytes of a file or the target of a link; `None` if it is too large to keep."""

    mode: int
    content: bytes | None
    stamp: tuple[int, ...]

    def same(self, other: "ProtectedFile") -> bool:
        if self.content is None or other.content is None:
            return self.stamp == other.stamp
        return self.mode == other.mode and self.content == other.content


class _Folder(NamedTuple):
    stamp: tuple[int, ...]
    #: What to look for: protected `names`, `all` entries, or the programs of a `git` directory.
    kind: str
    #: Directories to look into, with their kind.
    below: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


class Inventory:
    def __init__(self, workspace: str) -> None:
        self._root = workspace
        self._folders: dict[str, _Folder] = {}
        self._files: dict[str, ProtectedFile] = {}
        self._hooks_path = HooksPath(workspace)
        self._hooks: str | None = None

    @property
    def quick(self) -> bool:
        """Whether a look takes less time than handing it to a thread."""
        return 0 < len(self._folders) <= _QUICK_FOLDERS

    def look(self) -> dict[str, ProtectedFile]:
        """Every protected file, by its path in the workspace."""
        folders: dict[str, _Folder] = {}
        found: dict[str, ProtectedFile] = {}
        size = 0
        if (hooks := self._hooks_path.find()) != self._hooks:
            self._hooks, self._folders = hooks, {}
        for path in self._walk(folders):
            kept = self._read(path, room=_MAX_BYTES - size)
            if kept is not None:
                found[path] = kept
                size += len(kept.content or b"")
        self._folders, self._files = folders, found
        return dict(found)

    def inodes(self, path: str) -> tuple[int, ...]:
        """The inodes of the path and its parents: they show a swapped directory."""
        known = (self._folders.get(each) for each in (path, *parents(path)))
        return tuple(folder.stamp[0] if folder is not None else 0 for folder in known)

    def paths(self) -> list[str]:
        """Existing protected paths, with directories as a whole, upper ones first."""
        whole = [path for path, folder in self._folders.items() if folder.kind == "all" and not self._inside(path)]
        return sorted([*whole, *(path for path in self._files if not self._inside(path))], key=lambda p: p.count("/"))

    def _inside(self, path: str) -> bool:
        upper = self._folders.get(path.rpartition("/")[0])
        return upper is not None and upper.kind == "all"

    def folders(self) -> frozenset[str]:
        return frozenset(self._folders)

    def _walk(self, folders: dict[str, _Folder]) -> Iterator[str]:
        waiting = [("", "names")]
        # A `.git` file may point to a directory that is walked anyway, or that another one points to.
        visited: set[tuple[str, str]] = set()
        while waiting:
            following: list[tuple[str, str]] = []
            for path, kind in waiting:
                if len(visited) >= _MAX_FOLDERS:
                    return
                if (path, kind) in visited:
                    continue
                visited.add((path, kind))
                folder = self._folder(path, kind)
                if folder is not None:
                    folders[path] = folder
                    following += folder.below
                    yield from folder.files
            waiting = following

    def _folder(self, path: str, kind: str) -> _Folder | None:
        place = f"{self._root}/{path}"
        known = self._folders.get(path)
        try:
            found = os.lstat(place)
            stamp = (found.st_ino, found.st_dev, found.st_ctime_ns)
            if known is not None and known.kind == kind and known.stamp == stamp:
                return known
            if not stat.S_ISDIR(found.st_mode):
                return None  # don't follow a link that replaced it
            entries = list(os.scandir(place))
        except OSError:
            return None
        young = abs(time.time_ns() - found.st_ctime_ns) < _YOUNG
        below, files = _classify(self._root, path, kind, entries, self._hooks)
        return _Folder((*stamp[:2], 0) if young else stamp, kind, tuple(below), tuple(files))

    def _read(self, path: str, room: int) -> ProtectedFile | None:
        place = f"{self._root}/{path}"
        try:
            found = os.lstat(place)
            stamp = (found.st_ino, found.st_ctime_ns, found.st_size)
            known = self._files.get(path)
            young = abs(time.time_ns() - found.st_ctime_ns) < _YOUNG
            if known is not None and known.stamp == stamp and not young:
                return known
            if stat.S_ISLNK(found.st_mode):
                return ProtectedFile(found.st_mode, os.fsencode(os.readlink(place)), stamp)
            if not stat.S_ISREG(found.st_mode) or found.st_size > min(_MAX_FILE_BYTES, room):
                return ProtectedFile(found.st_mode, None, stamp)
            content = _content(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        except FileNotFoundError:
            return None
        except OSError:
            return ProtectedFile(0, None, ())
        return ProtectedFile(
            found.st_mode, content if content is not None and len(content) <= _MAX_FILE_BYTES else None, stamp
        )


def _content(handle: int) -> bytes | None:
    """At most one byte more than the limit; `None` if it isn't a regular file any more."""
    with closed_after(handle):
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read(_MAX_FILE_BYTES + 1)


def _classify(
    root: str, path: str, kind: str, entries: list["os.DirEntry[str]"], hooks: str | None
) -> tuple[list[tuple[str, str]], list[str]]:
    """The directories to look into, and the protected files of a directory."""
    below: list[tuple[str, str]] = []
    files: list[str] = []
    for entry in entries:
        directory = entry.is_dir(follow_symlinks=False)
        if kind == "names" and not directory and not may_be_protected(entry.name, path):
            continue
        inner = f"{path}/{entry.name}" if path else entry.name
        name = fold_name(entry.name)
        if kind == "all":
            if directory:
                below.append((inner, "all"))
            else:
                files.append(inner)
        elif kind == "git":
            if directory and name == "hooks":
                below.append((inner, "all"))
            elif directory and name not in _GIT_SKIPPED:
                below.append((inner, "git"))
        elif name == ".git" and directory:
            below.append((inner, "git"))
        elif directory and inner == hooks:
            below.append((inner, "all"))
        elif may_be_protected(entry.name, path) and protected_part(inner):
            if directory:
                below.append((inner, "all"))
            else:
                files.append(inner)
                if name == ".git" and (elsewhere := _git_directory(root, inner)) is not None:
                    below.append((elsewhere, "git"))
        elif directory and name not in _SKIPPED:
            below.append((inner, "names"))
    if kind == "git":
        files += [f"{path}/{name}" for name in _GIT_FILES]
    return below, files


def _git_directory(root: str, path: str) -> str | None:
    """The target of a `.git` that is a link or a file, if it is in the workspace."""
    place = f"{root}/{path}"
    try:
        if not os.path.islink(place):  # noqa: PTH114
            content = _content(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
            named = os.fsdecode((content or b"")[:4_096]).removeprefix("gitdir:").strip()
            place = os.path.join(os.path.dirname(place), named)  # noqa: PTH118, PTH120
        real = os.path.realpath(place)
    except (OSError, ValueError):
        return None
    return real[len(root) + 1 :] if real.startswith(f"{root}/") else None
