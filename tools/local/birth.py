"""When a file was created, which Python doesn't tell on Linux."""

import ctypes
import os
import struct
from functools import cache

_NO_FOLLOW, _BIRTH, _SIZE = 0x100, 0x800, 256
_TIME = struct.Struct("qI")
_TIME_OFFSET = 80


def birth_time(directory: int, path: str) -> int | None:
    """In nanoseconds; `None` if the system, or this file system, doesn't know."""
    call, found = _statx(), ctypes.create_string_buffer(_SIZE)
    if call is None or call(directory, os.fsencode(path), _NO_FOLLOW, _BIRTH, found) != 0:
        return None
    (mask,) = struct.unpack_from("I", found)
    seconds, rest = _TIME.unpack_from(found, _TIME_OFFSET)
    return int(seconds * 1_000_000_000 + rest) if mask & _BIRTH else None


@cache
def _statx() -> "ctypes._NamedFuncPointer | None":
    call = getattr(ctypes.CDLL(None), "statx", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p]
    return call
