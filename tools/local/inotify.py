"""The kernel's file notifications, of Linux only."""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tools.local.bpf import libc

_HEADER = struct.Struct("iIII")
_BUFFER, _LONGEST_EVENT = 65_536, 16 + 256


class Notification(NamedTuple):
    watch: int
    mask: int
    name: bytes


class Inotify:
    def __init__(self) -> None:
        """Raises `OSError` if this user has no instance left."""
        self.handle: int = libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.handle < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def add(self, place: str, mask: int) -> int:
        """The watch; negative if the user has none left, or there is no such place."""
        return int(libc().inotify_add_watch(self.handle, os.fsencode(place), mask))

    def remove(self, watch: int) -> None:
        libc().inotify_rm_watch(self.handle, watch)

    def read(self) -> Iterator[Notification]:
        """What happened since; never waits."""
        while True:
            try:
                data = os.read(self.handle, _BUFFER)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.EBADF:
                    return
                raise
            place = 0
            while place < len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, place)
                name = data[place + _HEADER.size : place + _HEADER.size + length].rstrip(b"\0")
                place += _HEADER.size + length
                yield Notification(watch, mask, name)
            if len(data) < _BUFFER - _LONGEST_EVENT:
                return

    def close(self) -> None:
        os.close(self.handle)
