"""What the kernel offers beyond Python's `os` to replace files: leases, exchanging names, starting to write.

A replaced file may lose a write: someone may have it open, and write to a file without a name. The kernel grants a read
lease on a file only if no process has it open for writing. Where there are no leases (macOS, some file systems,
files of others), only what has been written by then is seen.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from functools import cache

_F_SETSIG = 10
_RENAME_EXCHANGE = 2
_SYNC_FILE_RANGE_WRITE = 2


def has_writers(handle: int) -> bool:
    """Whether another program has this file open for writing. `handle` is open for reading only."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        # The signal that announces an opening elsewhere: one that is ignored unless a program asks for it.
        fcntl.fcntl(handle, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    with suppress(OSError):
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def exchange(directory: int, one: str, other: str) -> bool:
    """Let two files swap their names in one step; False where the system or its file system can't."""
    call = _renameat2()
    return call is not None and call(directory, os.fsencode(one), directory, os.fsencode(other), _RENAME_EXCHANGE) == 0


def start_writing(handle: int) -> None:
    """Let the kernel write a file to the disk without waiting for it, where the system has a call for that."""
    if (call := _sync_file_range()) is not None:
        call(handle, 0, 0, _SYNC_FILE_RANGE_WRITE)


@cache
def _sync_file_range() -> "ctypes._NamedFuncPointer | None":
    try:
        call = ctypes.CDLL(None).sync_file_range
    except (AttributeError, OSError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    return call


@cache
def _renameat2() -> "ctypes._NamedFuncPointer | None":
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call
