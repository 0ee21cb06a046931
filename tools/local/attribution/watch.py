"""Reports when a process wrote, replaced or removed a file in directories that a command has touched."""

import os
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tools.local.inotify import Inotify

_MODIFY, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _DELETE, _ONLY_DIRECTORIES = 0x2, 0x8, 0x40, 0x80, 0x200, 0x01000000
_MASK = _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _DELETE | _ONLY_DIRECTORIES
_CLOSE_UNWRITTEN, _OPEN, _NO_LINKS = 0x10, 0x20, 0x02000000
_FILE_MASK = _OPEN | _CLOSE_UNWRITTEN | _NO_LINKS
_IS_DIRECTORY, _IGNORED, _OVERFLOW = 0x40000000, 0x8000, 0x4000
_MAX_DIRECTORIES = 8_000
#: Files that are open for writing at the same time.
_MAX_FILES = 1_000

Kind = Literal["modified", "closed", "arrived", "removed", "opened", "read"]


class FileEvent(NamedTuple):
    """`path` is empty if events were lost.

    The kernel merges equal events in a row, such as two closings by writers that were open at the same time. So a file
    that the command holds open is followed: then each opening is reported too, and the end of each reading.
    """

    path: str
    kind: Kind


class DirectoryWatch:
    def __init__(self) -> None:
        """Raises `OSError` if this user has no watch left."""
        self._inotify = Inotify()
        self.handle = self._inotify.handle
        self._prefixes: dict[int, str] = {}
        self._added: set[str] = set()
        self._followed: dict[int, str] = {}

    def follow(self, path: str, place: str) -> bool:
        """Report openings and readings of the file, which is at `place`; whether it is followed from now on."""
        if path in self._followed.values() or len(self._followed) >= _MAX_FILES:
            return False
        number = self._inotify.add(place, _FILE_MASK)
        if number < 0 or number in self._prefixes:
            return False
        self._followed[number] = path
        return True

    def unfollow(self, path: str) -> None:
        for number in [number for number, followed in self._followed.items() if followed == path]:
            del self._followed[number]
            self._inotify.remove(number)

    def renamed(self, old: str, new: str) -> None:
        """A followed file is about to be renamed."""
        self._followed = {number: new if path == old else path for number, path in self._followed.items()}

    def add(self, prefix: str, directory: int) -> bool:
        """Watch an open directory, known as `prefix`; whether it is watched."""
        if prefix in self._added:
            return True
        if len(self._added) >= _MAX_DIRECTORIES:
            return False
        number = self._inotify.add(f"/proc/self/fd/{directory}", _MASK)
        if number < 0:
            return False
        self._prefixes[number] = prefix
        self._added.add(prefix)
        return True

    def __contains__(self, prefix: str) -> bool:
        return prefix in self._added

    def moved(self, old: str, new: str) -> None:
        """A directory was renamed: what is watched beneath it has another name now."""
        for number, prefix in self._prefixes.items():
            if prefix.startswith(old):
                self._prefixes[number] = new + prefix[len(old) :]
        self._added = set(self._prefixes.values())

    def events(self) -> Iterator[FileEvent]:
        """What happened since; never waits."""
        for number, mask, name in self._inotify.read():
            if mask & _OVERFLOW:
                yield FileEvent("", "modified")
            elif mask & _IGNORED:
                if number in self._prefixes:
                    self._added.discard(self._prefixes.pop(number))
                self._followed.pop(number, None)
            elif number in self._followed:
                if mask & (_OPEN | _CLOSE_UNWRITTEN):
                    yield FileEvent(self._followed[number], "opened" if mask & _OPEN else "read")
            elif name and not mask & _IS_DIRECTORY and number in self._prefixes:
                yield FileEvent(self._prefixes[number] + os.fsdecode(name), _kind(mask))

    def close(self) -> None:
        self._inotify.close()


def _kind(mask: int) -> Literal["modified", "closed", "arrived", "removed"]:
    if mask & (_DELETE | _MOVED_FROM):
        return "removed"
    return "arrived" if mask & _MOVED_TO else "closed" if mask & _CLOSE_WRITE else "modified"
