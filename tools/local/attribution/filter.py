"""The seccomp filter that reports a thread's file changes, and those of all it starts, to a listener.

Only calls that change files are reported: the flags of an open are a number that the filter can test. Every other call
runs at full speed. A call that could change files unseen (io_uring, x32) does not exist for the command.
"""

import ctypes
import errno
import os
from functools import cache

from tools.local import bpf
from tools.local.attribution.attributes import GUARDED
from tools.local.attribution.system_calls import AT_REMOVEDIR, MACHINES, SYSTEM_CALLS, WRITING, SystemCall

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_NO_NEW_PRIVS = 38
_IO_URING_SETUP = 425
_MISSING = bpf.refuse(errno.ENOSYS)


def install_listener(*, guarded: bool = False) -> int:
    """Report this thread's file changes from now on; the handle of the listener. Raises `OSError`.

    With `guarded`, calls that change attributes of files are reported too, all of them.
    """
    if os.geteuid() != 0 and bpf.libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(errno.EPERM, "the thread could still gain rights")
    program = bpf.KernelProgram(_program(guarded))
    number = _SECCOMP[os.uname().machine]
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        handle = bpf.libc().syscall(number, _SET_MODE_FILTER, flags, program.header)
        if handle >= 0:
            return int(handle)
        if ctypes.get_errno() != errno.EINVAL:
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def _program(guarded: bool) -> bytes:
    lines: list[bpf.Line] = []
    for architecture in MACHINES[os.uname().machine]:
        body = _body(architecture, guarded)
        lines += [
            (bpf.LOAD, 0, 0, bpf.ARCHITECTURE),
            (bpf.EQUAL, 1, 0, architecture),
            (bpf.JUMP, 0, 0, len(body)),
            *body,
        ]
    lines.append((bpf.GIVE, 0, 0, _MISSING))
    return bpf.assemble(lines)


def _body(architecture: int, guarded: bool) -> list[bpf.Line]:
    lines: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.NUMBER),
        (bpf.AT_LEAST, 0, 1, bpf.X32),
        (bpf.GIVE, 0, 0, _MISSING),
        (bpf.EQUAL, 0, 1, _IO_URING_SETUP),
        (bpf.GIVE, 0, 0, _MISSING),
    ]
    for number, call in SYSTEM_CALLS[architecture].items():
        lines += _report(number, call)
    for number in GUARDED.get(architecture, {}) if guarded else ():
        lines += [(bpf.EQUAL, 0, 1, number), (bpf.GIVE, 0, 0, bpf.NOTIFY)]
    lines.append((bpf.GIVE, 0, 0, bpf.ALLOW))
    return lines


def _report(number: int, call: SystemCall) -> list[bpf.Line]:
    if call.kind == "open":
        then, otherwise, bits = bpf.NOTIFY, bpf.ALLOW, WRITING
    elif call.kind == "remove" and call.flags >= 0:
        then, otherwise, bits = bpf.ALLOW, bpf.NOTIFY, AT_REMOVEDIR
    else:
        return [(bpf.EQUAL, 0, 1, number), (bpf.GIVE, 0, 0, bpf.NOTIFY)]
    return [
        (bpf.EQUAL, 0, 4, number),
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * call.flags),
        (bpf.ANY_BIT, 0, 1, bits),
        (bpf.GIVE, 0, 0, then),
        (bpf.GIVE, 0, 0, otherwise),
    ]
