"""Finds pipes, devices and huge files that Git or ripgrep would read: as an ignore file, or inside of a repository.

Opening a pipe waits for ever, opening a device may make something happen, and both programs read an ignore file as a
whole. Neither has an option against it, so we look before they start. Folders are remembered by their time stamps:
looking again costs one call for each.
"""

# Runs before each search and each Git call, where pathlib would cost as much as the rest.
# ruff: noqa: PTH116

import os
import stat
import time
from collections.abc import Iterable
from typing import NamedTuple

from tools.skipped import CACHE_FOLDERS, INSTALLED_FOLDERS

_OPENED_BY_NAME = frozenset({".git", ".gitignore", ".gitattributes", ".gitmodules", ".ignore", ".rgignore", ".mailmap"})
_SKIPPED = CACHE_FOLDERS | INSTALLED_FOLDERS
#: Most bytes of a file that is read as a whole; inside of a repository, other files may be of any size.
_MAX_BYTES = {
    **dict.fromkeys(_OPENED_BY_NAME, 4 << 20),
    "exclude": 4 << 20,
    "attributes": 4 << 20,
    "packed-refs": 64 << 20,
}
_MAX_FOLDERS = 10_000
#: A folder changed so recently may change again without a new time stamp.
_TICK_NS = 50_000_000


class _Folder(NamedTuple):
    stamp: tuple[int, ...]
    folders: tuple[str, ...]
    #: Links, and rules that are read as a whole: they can change without a new time stamp of the folder.
    opened: tuple[str, ...]
    special: str | None


class SpecialFiles:
    def __init__(self) -> None:
        self._known: dict[str, _Folder] = {}

    def find(self, workspace: str, repositories: Iterable[str] = ()) -> str | None:
        """What must not be opened, and why, as a sentence's beginning. It blocks, so call it in a thread."""
        waiting = [(workspace, False), *((place, True) for place in repositories)]
        seen: set[str] = set()
        while waiting and len(seen) < _MAX_FOLDERS:
            folder, inside = waiting.pop()
            if folder in seen or (found := self._look(folder, inside=inside)) is None:
                continue
            seen.add(folder)
            if found.special is not None:
                return f"{found.special} is a pipe or a device"
            for path in found.opened:
                if why := _refusal(path):
                    return f"{path} {why}"
            waiting.extend((f"{folder}/{name}", inside or name == ".git") for name in found.folders)
        return None

    def _look(self, folder: str, *, inside: bool) -> _Folder | None:
        """`inside` a repository, every file may be opened."""
        try:
            status = os.stat(folder)
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, inside)
            known = self._known.get(folder)
            if known is not None and known.stamp == stamp:
                return known
            known = _read(folder, stamp, inside=inside)
        except (OSError, ValueError):
            return None
        if len(self._known) > 2 * _MAX_FOLDERS:
            self._known.clear()
        if time.time_ns() - max(stamp[:2]) >= _TICK_NS:
            self._known[folder] = known
        return known


def _refusal(path: str) -> str:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    if not _is_harmless(status.st_mode):
        return "is a pipe or a device"
    most = _MAX_BYTES.get(path.rpartition("/")[2])
    return f"has more than {most >> 20} MiB" if most is not None and status.st_size > most else ""


def _read(folder: str, stamp: tuple[int, ...], *, inside: bool) -> _Folder:
    folders: list[str] = []
    opened: list[str] = []
    special = None
    names = _MAX_BYTES.keys() if inside else _OPENED_BY_NAME
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if inside or entry.name not in _SKIPPED:
                    folders.append(entry.name)
            elif entry.name in names or (inside and entry.is_symlink()):
                opened.append(entry.path)
            elif inside and not entry.is_file(follow_symlinks=False):
                special = special if _is_harmless(entry.stat(follow_symlinks=False).st_mode) else entry.path
    return _Folder(stamp, tuple(folders), tuple(opened), special)


def _is_harmless(mode: int) -> bool:
    """A socket is: it can't be opened."""
    return not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode))
