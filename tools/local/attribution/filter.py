"""The seccomp filter that reports a thread's file changes, and those of all it starts, to a listener.

Only calls that change files are reported: the flags of an open are a number that the filter can test. Every other call
runs at full speed. A call that could change files unseen (io_uring, x32) does not exist for the command.
"""

import ctypes
import errno
import os
import struct
from functools import cache

from tools.local.attribution.attributes import GUARDED
from tools.local.attribution.system_calls import AT_REMOVEDIR, MACHINES, SYSTEM_CALLS, WRITING, SystemCall

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_NO_NEW_PRIVS = 38
_IO_URING_SETUP = 425
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _JUMP, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x05, 0x06
_ALLOW, _NOTIFY, _MISSING = 0x7FFF0000, 0x7FC00000, 0x00050000 | errno.ENOSYS
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000

Line = tuple[int, int, int, int]


def install_listener(*, guarded: bool = False) -> int:
    """Report this thread's file changes from now on; the handle of the listener. Raises `OSError`.

    With `guarded`, calls that change attributes of files are reported too, all of them.
    """
    libc = _libc()
    if os.geteuid() != 0 and libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(errno.EPERM, "the thread could still gain rights")
    length, code = _program(guarded)
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", length, ctypes.addressof(buffer)))
    number = _SECCOMP[os.uname().machine]
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        handle = libc.syscall(number, _SET_MODE_FILTER, flags, program)
        if handle >= 0:
            return int(handle)
        if ctypes.get_errno() != errno.EINVAL:
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def _program(guarded: bool) -> tuple[int, bytes]:
    lines: list[Line] = []
    for architecture in MACHINES[os.uname().machine]:
        body = _body(architecture, guarded)
        lines += [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_JUMP, 0, 0, len(body)), *body]
    lines.append((_GIVE, 0, 0, _MISSING))
    return len(lines), b"".join(struct.pack("HBBI", *line) for line in lines)


def _body(architecture: int, guarded: bool) -> list[Line]:
    lines: list[Line] = [
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_GIVE, 0, 0, _MISSING),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        (_GIVE, 0, 0, _MISSING),
    ]
    for number, call in SYSTEM_CALLS[architecture].items():
        lines += _report(number, call)
    for number in GUARDED.get(architecture, {}) if guarded else ():
        lines += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _NOTIFY)]
    lines.append((_GIVE, 0, 0, _ALLOW))
    return lines


def _report(number: int, call: SystemCall) -> list[Line]:
    if call.kind == "open":
        then, otherwise, bits = _NOTIFY, _ALLOW, WRITING
    elif call.kind == "remove" and call.flags >= 0:
        then, otherwise, bits = _ALLOW, _NOTIFY, AT_REMOVEDIR
    else:
        return [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _NOTIFY)]
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * call.flags),
        (_ANY_BIT, 0, 1, bits),
        (_GIVE, 0, 0, then),
        (_GIVE, 0, 0, otherwise),
    ]


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
