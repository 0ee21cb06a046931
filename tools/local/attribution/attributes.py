"""Changes modes, owners, times and attributes of files for a command, but only where the command may write.

Landlock doesn't confine these calls, and a filter can't look behind their pointers. So the command's own call never
runs: we resolve its path once, check the file that we hold, and change that file.
"""

# Runs for every such call, where pathlib would cost as much as the rest.
# ruff: noqa: PTH115, PTH101

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from tools.local.attribution.process import Unreadable, read_memory, read_text
from tools.local.attribution.system_calls import AARCH64, AT_SYMLINK_NOFOLLOW, X86_64
from tools.local.bpf import libc

_AT_FDCWD = 0xFFFFFF9C
_AT_EMPTY_PATH = 0x1000
_MAX_ATTRIBUTE = 65_536
_MAX_NAME = 256
_SIGNED = 0xFFFFFFFF
_UNCHANGED = 0xFFFFFFFF


class GuardedCall(NamedTuple):
    """Places of the arguments: the directory (-1: the current one), the path (-1: none), and the flags (-1: none)."""

    kind: str
    directory: int
    path: int
    values: int
    flags: int = -1
    follows: bool = True

    @property
    def sets_time(self) -> bool:
        return self.kind.startswith("utime")


#: Each call with its number on x86_64 and on aarch64, -1 where there is none.
_TABLE: dict[str, tuple[GuardedCall, int, int]] = {
    "chmod": (GuardedCall("mode", -1, 0, 1), 90, -1),
    "fchmod": (GuardedCall("mode", 0, -1, 1), 91, 52),
    "fchmodat": (GuardedCall("mode", 0, 1, 2), 268, 53),
    "fchmodat2": (GuardedCall("mode", 0, 1, 2, 3), 452, 452),
    "chown": (GuardedCall("owner", -1, 0, 1), 92, -1),
    "fchown": (GuardedCall("owner", 0, -1, 1), 93, 55),
    "lchown": (GuardedCall("owner", -1, 0, 1, follows=False), 94, -1),
    "fchownat": (GuardedCall("owner", 0, 1, 2, 4), 260, 54),
    "utime": (GuardedCall("utime", -1, 0, 1), 132, -1),
    "utimes": (GuardedCall("utimes", -1, 0, 1), 235, -1),
    "futimesat": (GuardedCall("utimes", 0, 1, 2), 261, -1),
    "utimensat": (GuardedCall("utimens", 0, 1, 2, 3), 280, 88),
    "setxattr": (GuardedCall("set", -1, 0, 1), 188, 5),
    "lsetxattr": (GuardedCall("set", -1, 0, 1, follows=False), 189, 6),
    "fsetxattr": (GuardedCall("set", 0, -1, 1), 190, 7),
    "removexattr": (GuardedCall("remove", -1, 0, 1), 197, 14),
    "lremovexattr": (GuardedCall("remove", -1, 0, 1, follows=False), 198, 15),
    "fremovexattr": (GuardedCall("remove", 0, -1, 1), 199, 16),
    "setxattrat": (GuardedCall("refused", 0, 1, 2), 463, 463),
    "removexattrat": (GuardedCall("refused", 0, 1, 2), 466, 466),
    "file_setattr": (GuardedCall("refused", 0, 1, 2), 469, 469),
}
#: By architecture and number.
GUARDED: dict[int, dict[int, GuardedCall]] = {
    architecture: {numbers[place]: call for call, *numbers in _TABLE.values() if numbers[place] >= 0}
    for place, architecture in enumerate((X86_64, AARCH64))
}


class ReportedCall(Protocol):
    @property
    def thread(self) -> int: ...
    @property
    def call(self) -> int: ...
    @property
    def architecture(self) -> int: ...
    @property
    def arguments(self) -> list[int]: ...


class AttributeGuard:
    """`places` are what the command may write; `hidden` are exceptions beneath them."""

    def __init__(self, places: Sequence[str], hidden: Sequence[str]) -> None:
        self._given = places, hidden
        self._resolved: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def covers(self, architecture: int, call: int) -> bool:
        return call in GUARDED.get(architecture, {})

    def perform(self, reported: ReportedCall, still_waits: Callable[[], bool]) -> int:
        """The error number that the command gets; 0 if the file was changed."""
        call = GUARDED[reported.architecture][reported.call]
        if call.kind == "refused":
            return errno.ENOSYS  # newer variants: programs use the older ones
        try:
            handle = _open(reported, call)
        except Unreadable:
            return errno.EPERM
        except OSError as error:
            return error.errno or errno.EPERM
        try:
            # The thread's number may belong to another process by now.
            if not still_waits() or not self._may_change(handle):
                return errno.EPERM
            return _change(handle, reported, call)
        except Unreadable:
            return errno.EFAULT
        except OSError as error:
            return error.errno or errno.EPERM
        finally:
            os.close(handle)

    def _may_change(self, handle: int) -> bool:
        path = f"{os.readlink(f'/proc/self/fd/{handle}').removesuffix(' (deleted)')}/"
        if self._resolved is None:
            places, hidden = ([f"{os.path.realpath(each).rstrip('/')}/" for each in given] for given in self._given)
            self._resolved = tuple(places), tuple(hidden)
        return path.startswith(self._resolved[0]) and not path.startswith(self._resolved[1])


def _open(reported: ReportedCall, call: GuardedCall) -> int:
    """A handle that only names the file. What it names can't be exchanged any more."""
    thread, arguments = reported.thread, reported.arguments
    flags = arguments[call.flags] if call.flags >= 0 else 0
    follow = 0 if call.follows and not flags & AT_SYMLINK_NOFOLLOW else os.O_NOFOLLOW
    by_path = call.path >= 0 and arguments[call.path] != 0
    base = _base(thread, _AT_FDCWD if call.directory < 0 else arguments[call.directory])
    path = read_text(thread, arguments[call.path]) if by_path else ""
    if not path:
        if by_path and not flags & _AT_EMPTY_PATH:
            raise OSError(errno.ENOENT, "an empty path")
        return os.open(base, os.O_PATH | os.O_CLOEXEC)
    if path.startswith("/"):
        return os.open(_as_seen_by(thread, path), os.O_PATH | os.O_CLOEXEC | follow)
    directory = os.open(base, os.O_PATH | os.O_CLOEXEC)
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC | follow, dir_fd=directory)
    finally:
        os.close(directory)


def _base(thread: int, directory: int) -> str:
    handle = directory & _SIGNED
    return f"/proc/{thread}/cwd" if handle == _AT_FDCWD else f"/proc/{thread}/fd/{handle}"


def _as_seen_by(thread: int, path: str) -> str:
    """Our own `/proc/self` is not the command's."""
    for prefix, own in (("/proc/self/", ""), ("/proc/thread-self/", ""), ("/dev/fd/", "fd/")):
        if path.startswith(prefix):
            return f"/proc/{thread}/{own}{path[len(prefix) :]}"
    return path


def _change(handle: int, reported: ReportedCall, call: GuardedCall) -> int:
    values = reported.arguments[call.values :]
    if call.kind == "mode":
        if stat.S_ISLNK(os.fstat(handle).st_mode):
            return errno.EOPNOTSUPP
        os.chmod(f"/proc/self/fd/{handle}", values[0] & 0o7777)
        return 0
    if call.kind == "owner":
        owner, group = (-1 if value & _SIGNED == _UNCHANGED else value & _SIGNED for value in values[:2])
        return _checked(libc().fchownat(handle, b"", owner, group, _AT_EMPTY_PATH))
    if call.kind in ("set", "remove"):
        return _change_attribute(handle, reported.thread, call.kind, values)
    return _checked(libc().utimensat(handle, b"", _times(reported.thread, call.kind, values[0]), _AT_EMPTY_PATH))


def _change_attribute(handle: int, thread: int, kind: str, values: list[int]) -> int:
    name = os.fsdecode(read_memory(thread, values[0], _MAX_NAME).partition(b"\0")[0])
    if not name.startswith("user.") or stat.S_ISLNK(os.fstat(handle).st_mode):
        return errno.EOPNOTSUPP  # others give rights, or need more than the command has
    place = f"/proc/self/fd/{handle}"
    if kind == "remove":
        os.removexattr(place, name)
        return 0
    if values[2] > _MAX_ATTRIBUTE:
        return errno.E2BIG
    os.setxattr(place, name, read_memory(thread, values[1], values[2]) if values[2] else b"", values[3])
    return 0


def _times(thread: int, kind: str, address: int) -> bytes | None:
    """Two `timespec`; `None` is now."""
    if not address:
        return None
    if kind == "utimens":
        return read_memory(thread, address, 32)
    if kind == "utime":
        first, second = struct.unpack("qq", read_memory(thread, address, 16))
        return struct.pack("qqqq", first, 0, second, 0)
    first, micro, second, other = struct.unpack("qqqq", read_memory(thread, address, 32))
    return struct.pack("qqqq", first, micro * 1000, second, other * 1000)


def _checked(answer: int) -> int:
    return 0 if answer == 0 else ctypes.get_errno() or errno.EPERM
