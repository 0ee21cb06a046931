"""Programs for the filter that the kernel runs for each system call, and the C library that installs them."""

import ctypes
import struct
from collections.abc import Sequence
from functools import cache

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, JUMP, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x05, 0x06
KILL, ALLOW, NOTIFY = 0x80000000, 0x7FFF0000, 0x7FC00000
#: Where a call's number, its architecture and its arguments are; an argument has eight bytes.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
#: Numbers from here on are calls of x32.
X32 = 0x40000000

#: An operation, the lines to skip if it holds and if it doesn't, and its operand.
Line = tuple[int, int, int, int]


def refuse(number: int) -> int:
    """The verdict that makes a call fail with this error number."""
    return 0x00050000 | number


def assemble(lines: Sequence[Line]) -> bytes:
    return b"".join(struct.pack("HBBI", *line) for line in lines)


class KernelProgram:
    """An assembled program as the kernel takes it; keep the object until the call returns."""

    def __init__(self, code: bytes) -> None:
        self._code = ctypes.create_string_buffer(code, len(code))
        self.header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(self._code)))


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
