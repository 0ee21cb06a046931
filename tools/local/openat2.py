"""The system call `openat2`: opens a path and resolves it within bounds, which no check before an `open` can."""

import ctypes
import errno
import os
import sys
from functools import cache

NO_MAGICLINKS, NO_SYMLINKS, BENEATH, IN_ROOT = 0x02, 0x04, 0x08, 0x10
_NUMBER = 437
#: How often to ask about a path with `..` while other processes rename or mount: the kernel can't be sure of it then.
_TRIES = 20


class _How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


_HOW_SIZE = ctypes.sizeof(_How)


@cache
def is_available() -> bool:
    """Whether this kernel has it."""
    if sys.platform != "linux":
        return False
    try:
        os.close(openat2(-1, "/", os.O_PATH | os.O_DIRECTORY))
    except OSError:
        return False
    return True


def openat2(directory: int, name: str, flags: int, mode: int = 0, resolve: int = 0) -> int:
    """A handle, closed on exec. Raises `OSError`."""
    call, how = _system_call(), ctypes.byref(_how(flags, mode, resolve))
    for _ in range(_TRIES):
        handle = int(call(_NUMBER, directory, os.fsencode(name), how, _HOW_SIZE))
        if handle >= 0:
            return handle
        number = ctypes.get_errno()
        if number != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number))


@cache
def _how(flags: int, mode: int, resolve: int) -> _How:
    return _How(flags | os.O_CLOEXEC, mode, resolve)


@cache
def _system_call() -> "ctypes._NamedFuncPointer":
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    return call
