"""A file of a workspace that another program opens by its path, and whether that path led elsewhere meanwhile.

A check before and a check after would miss a directory that is exchanged for a link and back in between. So the kernel
reports every change of a name on the way.
"""

import os
import stat
import sys
from types import TracebackType

from tools.errors import NotAFile, PathDenied
from tools.local.inotify import Inotify
from tools.local.root import WorkspaceRoot, read_handle

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_ONLY_DIRECTORIES = 0x01000000
_MASK = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_DIRECTORIES
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED


class WatchedPath:
    """Raises `ToolError` unless it is a regular file that is reached without links, and `OSError`."""

    def __init__(self, root: WorkspaceRoot, path: str) -> None:
        self.name = root.relative(path)
        parts = self.name.split("/")
        if ".." in parts or self.name == "." or any(_is_within(self.name, place) for place in root.private):
            raise PathDenied(f"{path} is not a file that an editor may be asked for.")
        self._root = root
        self._inotify = Inotify() if sys.platform == "linux" else None
        self._names: dict[int, bytes] = {}
        self._moved = self._replaced = False
        self._handle = -1
        try:
            self._handle = self._open(parts, path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "WatchedPath":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        if self._inotify is not None:
            self._inotify.close()

    def stat(self) -> os.stat_result:
        return os.fstat(self._handle)

    def read(self, limit: int) -> bytes:
        """The file as it is now; not another one that has its name meanwhile."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        return read_handle(self._handle, self.name, limit)

    def directories_moved(self) -> bool:
        """Whether a directory on the way may have been another one at any time since this object was made."""
        self._look()
        return self._moved

    def moved(self) -> bool:
        """The same, or the file itself may have been another one."""
        self._look()
        return self._moved or self._replaced

    def _open(self, parts: list[str], path: str) -> int:
        directory = self._root.open(".", _DIRECTORY)
        try:
            for part in parts[:-1]:
                # First the watch, then the step: no change of this name is missed.
                self._watch(directory, part)
                inner = os.open(part, _DIRECTORY, dir_fd=directory)
                os.close(directory)
                directory = inner
            self._watch(directory, parts[-1])
            if not stat.S_ISREG(os.stat(parts[-1], dir_fd=directory, follow_symlinks=False).st_mode):
                raise NotAFile(f"{path} is not a regular file.")
            return os.open(parts[-1], _FILE, dir_fd=directory)
        finally:
            os.close(directory)

    def _watch(self, directory: int, name: str) -> None:
        if self._inotify is None:
            return
        watch = self._inotify.add(f"/proc/self/fd/{directory}", _MASK)
        if watch < 0 or watch in self._names:
            raise OSError("no watch is left for this directory")
        self._names[watch] = os.fsencode(name)

    def _look(self) -> None:
        if self._inotify is None:
            # Commands aren't confined there either, so they could read and write what the editor can.
            self._replaced = self._replaced or self._is_another()
            return
        last = [*self._names][-1]
        for watch, mask, name in self._inotify.read():
            if mask & _LOST:
                self._moved = True
            elif name == self._names.get(watch):
                if watch == last:
                    self._replaced = True
                else:
                    self._moved = True

    def _is_another(self) -> bool:
        try:
            found = os.stat(f"{self._root.path}/{self.name}", follow_symlinks=False)  # noqa: PTH116
        except OSError:
            return True
        opened = self.stat()
        return (found.st_dev, found.st_ino) != (opened.st_dev, opened.st_ino)


def _is_within(name: str, directory: str) -> bool:
    return f"{name}/".startswith(f"{directory}/".removeprefix("/"))
