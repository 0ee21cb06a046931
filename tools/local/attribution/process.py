"""Reads where a system call of another process leads: its strings, its directories, its links."""

# Runs for every change of a command, where pathlib would cost as much as the rest.
# ruff: noqa: PTH115

import os
import stat
import struct
from contextlib import suppress

from tools.local.openat2 import BENEATH, IN_ROOT, NO_SYMLINKS, openat2

_O_PATH = os.O_PATH | os.O_CLOEXEC
_DIRECTORY = _O_PATH | os.O_DIRECTORY
_AT_FDCWD = 0xFFFFFF9C
_LONGEST = 4096
_MAX_LINKS = 8
#: What shells write to all the time.
_DEVICES = frozenset({"/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/zero"})


class Unreadable(Exception):
    """The process can't be read, or is gone."""


def read_text(thread: int, address: int) -> str:
    return os.fsdecode(read_memory(thread, address, _LONGEST).partition(b"\0")[0])


def read_flags(thread: int, address: int) -> int:
    """The flags of `openat2`, which are behind a pointer."""
    data = read_memory(thread, address, 8)
    return int(struct.unpack("Q", data)[0]) if len(data) == 8 else 0


def read_memory(thread: int, address: int, size: int) -> bytes:
    try:
        handle = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise Unreadable from error
    try:
        return os.pread(handle, size, address)
    except OSError as error:
        raise Unreadable from error
    finally:
        os.close(handle)


def name_of(thread: int) -> str:
    """The name of a thread's program, which any process may read."""
    try:
        with open(f"/proc/{thread}/comm", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - hot
            return file.read().strip()
    except OSError:
        return ""


def is_program(thread: int, file: tuple[int, int] | None) -> bool:
    """Whether the thread runs the program in that file, given by device and inode."""
    try:
        found = os.stat(f"/proc/{thread}/exe")  # noqa: PTH116 - hot
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == file


def open_for_writing(thread: int, path: str) -> int:
    """How often a process has a file open for writing. One that is gone, or can't be read, holds nothing."""
    count = 0
    try:
        with os.scandir(f"/proc/{thread}/fd") as handles:
            for handle in handles:
                with suppress(FileNotFoundError):  # closed meanwhile
                    writes = handle.stat(follow_symlinks=False).st_mode & stat.S_IWUSR
                    count += bool(writes) and os.readlink(handle.path) == path
    except OSError:
        return 0
    return count


class Locator:
    """Finds the place in a workspace that a name of another process means."""

    def __init__(self, workspace: str, root: int) -> None:
        self._prefix = f"{workspace.rstrip('/')}/"
        self._root = root

    def locate(self, thread: int, directory: int, name: str, *, follow: bool) -> str | None:
        """The path below the workspace; `None` if it is elsewhere."""
        if name in _DEVICES:
            return None
        if not name.startswith("/"):
            name = f"{self._base(thread, directory)}/{name}"
        for _ in range(_MAX_LINKS):
            parent, _, last = name.rstrip("/").rpartition("/")
            if last in ("", ".", ".."):
                return None
            place = self._plain(parent) or self._real(thread, parent)
            if place is None:
                return None
            if not follow or (target := self._link(thread, place, last)) is None:
                path = f"{place}/{last}"
                return path[len(self._prefix) :] if path.startswith(self._prefix) else None
            name = target if target.startswith("/") else f"{place}/{target}"
        return None

    def handle_path(self, thread: int, handle: int) -> str | None:
        """The file of an open handle, if it is in the workspace."""
        path = _readlink(f"/proc/{thread}/fd/{handle}")
        return path[len(self._prefix) :] if path.startswith(self._prefix) else None

    def _base(self, thread: int, directory: int) -> str:
        handle = directory & 0xFFFFFFFF
        return _readlink(f"/proc/{thread}/cwd" if handle == _AT_FDCWD else f"/proc/{thread}/fd/{handle}")

    def _plain(self, parent: str) -> str | None:
        """A directory of the workspace whose name is its place: no links, no detours. The usual case, and quick."""
        place = f"{parent}/"
        if not place.startswith(self._prefix) or "/./" in place or "/../" in place or "//" in place:
            return None
        try:
            handle = openat2(self._root, place[len(self._prefix) :] or ".", _DIRECTORY, resolve=NO_SYMLINKS | BENEATH)
        except OSError:
            return None
        os.close(handle)
        return parent

    def _real(self, thread: int, parent: str) -> str | None:
        """Resolved as the process sees it: it may have another root, and other mounts."""
        try:
            root = os.open(f"/proc/{thread}/root", _O_PATH)
        except OSError as error:
            raise Unreadable from error
        try:
            handle = openat2(root, parent or "/", _DIRECTORY, resolve=IN_ROOT)
        except OSError:
            return None  # the call will fail as well
        finally:
            os.close(root)
        try:
            return os.readlink(f"/proc/self/fd/{handle}").rstrip("/")
        finally:
            os.close(handle)

    def _link(self, thread: int, place: str, last: str) -> str | None:
        """The target of a link at that place, as the process sees it; `None` if it is no link."""
        path = f"{place}/{last}"
        if path.startswith(self._prefix):
            try:
                return os.readlink(path[len(self._prefix) :], dir_fd=self._root)
            except OSError:
                return None
        try:
            return os.readlink(f"/proc/{thread}/root{path}")
        except OSError:
            return None


def _readlink(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError as error:
        raise Unreadable from error
