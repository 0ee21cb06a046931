"""The protected files of a workspace, as they are at one moment.

A directory is listed again only when something in it was made, moved or removed, which its change time tells and nobody
can set; so a look at a large workspace costs one call for each directory. Of a `.git` directory only what decides what
runs is looked at: a commit must be possible.
"""

# Called before and after every command: building a Path would cost more than the call itself.
# ruff: noqa: PTH115

import os
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from tools.protected import fold_name, may_be_protected, protected_part

#: Where nobody keeps what is protected: too large, and made by others.
_PASSED_OVER = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build", "__pycache__"})
#: The upper floors come first, so that what is beyond these is deep down in a very large workspace.
_FOLDERS = 20_000
_FEW = 100
_LARGEST = 256 * 1024
_ALL = 16 * 1024 * 1024
#: A directory that was changed so shortly before the look may have been changed again with the same time.
_YOUNG = 50_000_000
#: What decides what runs, in a `.git` directory and in those of its worktrees and modules.
_GIT_FILES = ("config", "config.worktree", "commondir", "info/attributes")
_GIT_SKIPPED = frozenset({"objects", "refs", "logs", "hooks", "info", "lfs", "rr-cache"})


class Kept(NamedTuple):
    """What a protected file was. `content` is its bytes, or where a link leads; `None` if it is too large to keep."""

    mode: int
    content: bytes | None
    stamp: tuple[int, ...]

    def same(self, other: "Kept") -> bool:
        if self.content is None or other.content is None:
            return self.stamp == other.stamp
        return self.mode == other.mode and self.content == other.content


class _Folder(NamedTuple):
    stamp: tuple[int, ...]
    #: What is looked for in it: protected `names`, `all` that is there, or what of a `git` directory runs.
    kind: str
    #: Directories to look into, each with what is to be looked for there.
    below: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


class Inventory:
    def __init__(self, workspace: str) -> None:
        self._root = workspace
        self._folders: dict[str, _Folder] = {}
        self._kept: dict[str, Kept] = {}

    @property
    def quick(self) -> bool:
        """Whether a look is over in less than a thread takes to do it."""
        return 0 < len(self._folders) <= _FEW

    def look(self) -> dict[str, Kept]:
        """Every protected file that is there, by its path in the workspace."""
        folders: dict[str, _Folder] = {}
        found: dict[str, Kept] = {}
        size = 0
        for path in self._walk(folders):
            kept = self._read(path, room=_ALL - size)
            if kept is not None:
                found[path] = kept
                size += len(kept.content or b"")
        self._folders, self._kept = folders, found
        return dict(found)

    def floors(self, path: str) -> tuple[int, ...]:
        """The directories that a path goes through, and itself if it is one, by number: a swap would show."""
        known = (self._folders.get(each) for each in (path, *uppers(path)))
        return tuple(folder.stamp[0] if folder is not None else 0 for folder in known)

    def places(self) -> list[str]:
        """What is there and protected, directories as a whole, the upper floors first."""
        whole = [path for path, folder in self._folders.items() if folder.kind == "all" and not self._inside(path)]
        return sorted([*whole, *(path for path in self._kept if not self._inside(path))], key=lambda p: p.count("/"))

    def _inside(self, path: str) -> bool:
        upper = self._folders.get(path.rpartition("/")[0])
        return upper is not None and upper.kind == "all"

    def folders(self) -> frozenset[str]:
        return frozenset(self._folders)

    def _walk(self, folders: dict[str, _Folder]) -> Iterator[str]:
        waiting = [("", "names")]
        # A `.git` file may lead to a directory that is walked through anyway, or that another one leads to.
        visited: set[tuple[str, str]] = set()
        while waiting:
            following: list[tuple[str, str]] = []
            for path, kind in waiting:
                if len(visited) >= _FOLDERS:
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
                return None  # it was one just now; where a link leads to is nobody's workspace
            entries = list(os.scandir(place))
        except OSError:
            return None
        young = abs(time.time_ns() - found.st_ctime_ns) < _YOUNG
        below, files = _sorted(self._root, path, kind, entries)
        return _Folder((*stamp[:2], 0) if young else stamp, kind, tuple(below), tuple(files))

    def _read(self, path: str, room: int) -> Kept | None:
        place = f"{self._root}/{path}"
        try:
            found = os.lstat(place)
            stamp = (found.st_ino, found.st_ctime_ns, found.st_size)
            known = self._kept.get(path)
            young = abs(time.time_ns() - found.st_ctime_ns) < _YOUNG
            if known is not None and known.stamp == stamp and not young:
                return known
            if stat.S_ISLNK(found.st_mode):
                return Kept(found.st_mode, os.fsencode(os.readlink(place)), stamp)
            if not stat.S_ISREG(found.st_mode) or found.st_size > min(_LARGEST, room):
                return Kept(found.st_mode, None, stamp)
            content = _content(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        except FileNotFoundError:
            return None
        except OSError:
            return Kept(0, None, ())
        return Kept(found.st_mode, content if content is not None and len(content) <= _LARGEST else None, stamp)


def _content(handle: int) -> bytes | None:
    """What a file holds, a byte more than is kept at the most; nothing if it has become something else meanwhile."""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read(_LARGEST + 1)
    finally:
        os.close(handle)


def _sorted(
    root: str, path: str, kind: str, entries: list["os.DirEntry[str]"]
) -> tuple[list[tuple[str, str]], list[str]]:
    """What of a directory is to be looked into, and what in it is protected itself."""
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
        elif may_be_protected(entry.name, path) and protected_part(inner):
            if directory:
                below.append((inner, "all"))
            else:
                files.append(inner)
                if name == ".git" and (elsewhere := _git_directory(root, inner)) is not None:
                    below.append((elsewhere, "git"))
        elif directory and name not in _PASSED_OVER:
            below.append((inner, "names"))
    if kind == "git":
        files += [f"{path}/{name}" for name in _GIT_FILES]
    return below, files


def _git_directory(root: str, path: str) -> str | None:
    """Where a `.git` that is a link or a file leads to, if that is in the workspace, too."""
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


def uppers(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path
