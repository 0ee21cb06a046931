"""The seccomp filter of a command: system calls that lead out of a sandbox fail, in every tier.

Namespaces and Landlock confine files and networks. They don't confine Unix sockets in the file system, the
kernel's keyring, io_uring (whose calls no filter sees), virtual machine sockets, or input pushed into a terminal. A
call of another architecture kills the process: its numbers mean other calls.
"""

import ctypes
import errno
import os
import re
from functools import cache
from typing import Literal

from tools.local import bpf
from tools.local.attribution.attributes import GUARDED
from tools.local.attribution.system_calls import AARCH64, X86_64

#: Which sockets a command may make: every kind that reaches a network, those of a network of its own, or none.
Sockets = Literal["network", "own", "none"]

_SET_SECCOMP, _FILTER = 22, 2
_ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED, _KIND = 1, 5, 0xF
#: Push a character into a terminal's input, and the same for a console.
_TERMINAL_INPUT = (0x5412, 0x541C)
_MARKING_LIMIT = 15
#: New namespaces would give a command capabilities of its own in the kernel.
_NEW_NAMESPACE = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000 | 0x80

# Each call with its numbers on x86_64 and aarch64; -1 where there is no such call.
#: Calls that may be made with some arguments, and not with others.
_TESTED_CALLS = """
socket=41/198 socketpair=53/199 ioctl=16/29 unshare=272/97 clone=56/220 clone3=435/435 setrlimit=160/164
prlimit64=302/261 chmod=90/-1 fchmod=91/52 fchmodat=268/53 fchmodat2=452/452 creat=85/-1 mknod=133/-1 mknodat=259/33
open=2/-1 openat=257/56 openat2=437/437
"""
#: Those that give a file its mode: which argument it is, and which one says whether a file is made at all.
_MODE_CALLS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("chmod", "fchmod", "creat", "mknod"), (1, None)),
    **dict.fromkeys(("fchmodat", "fchmodat2", "mknodat"), (2, None)),
    "open": (2, 1),
    "openat": (3, 2),
}
_MAKES_FILE = 0o100 | 0o20000000  # O_CREAT, and what O_TMPFILE has beside O_DIRECTORY
_SET_USER_ID = 0o4000
#: Programs take these as missing, and go on without them.
_MISSING_CALLS = """
io_uring_setup=425/425 io_uring_enter=426/426 io_uring_register=427/427
"""
_REFUSED_CALLS = """
add_key=248/217 request_key=249/218 keyctl=250/219 pidfd_getfd=438/438 bpf=321/280 perf_event_open=298/241
userfaultfd=323/282 open_by_handle_at=304/265 init_module=175/105 finit_module=313/273 delete_module=176/106
kexec_load=246/104 kexec_file_load=320/294 reboot=169/142 swapon=167/224 swapoff=168/225 acct=163/89 quotactl=179/60
settimeofday=164/170 clock_settime=227/112 iopl=172/-1 ioperm=173/-1
"""
#: A debugger or a container that you approved may use these, on what is in its sandbox.
_APPROVED_CALLS = """
mount=165/40 umount2=166/39 pivot_root=155/41 setns=308/268 open_tree=428/428 move_mount=429/429 fsopen=430/430
fsconfig=431/431 fsmount=432/432 fspick=433/433 mount_setattr=442/442 ptrace=101/117 process_vm_readv=310/270
process_vm_writev=311/271 kcmp=312/272
"""


class Unfiltered(OSError):
    """The filter can't be built or installed, so nothing runs."""


@cache
def build_filter(sockets: Sockets, *, approved: bool, attributes: bool = True) -> bytes:
    """The program for the kernel. Without `attributes`, modes, owners and attributes of files can't be changed.

    Raises `Unfiltered` on an architecture that we don't know.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise Unfiltered(f"No seccomp filter for {machine}")
    architecture = _ARCHITECTURES[machine]
    missing, refused, approvable, calls = (
        _numbers(table, architecture) for table in (_MISSING_CALLS, _REFUSED_CALLS, _APPROVED_CALLS, _TESTED_CALLS)
    )
    refusals = [*refused.values(), *(() if approved else approvable.values())]
    if not attributes:
        # Landlock doesn't confine them.
        refusals += [number for number, call in GUARDED[architecture].items() if not call.sets_time]
    lines: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.ARCHITECTURE),
        (bpf.EQUAL, 1, 0, architecture),
        (bpf.RETURN, 0, 0, bpf.KILL),
        (bpf.LOAD, 0, 0, bpf.NUMBER),
        (bpf.AT_LEAST, 0, 1, bpf.X32),
        (bpf.RETURN, 0, 0, bpf.KILL),
    ]
    for numbers, answer in ((missing.values(), errno.ENOSYS), (refusals, errno.EPERM)):
        for number in numbers:
            lines += [(bpf.EQUAL, 0, 1, number), (bpf.RETURN, 0, 0, bpf.refuse(answer))]
    lines += _on(calls["socket"], _socket_family(sockets))
    lines += _on(calls["ioctl"], _terminal_input())
    lines += _on(calls["setrlimit"], _keep_mark(0, None))
    lines += _on(calls["prlimit64"], _keep_mark(1, 2))
    if sockets != "network":
        lines += _on(calls["socketpair"], _pair_kind())
    if not approved:
        if attributes:
            for name in (each for each in _MODE_CALLS if each in calls):
                lines += _on(calls[name], _no_set_user_id(*_MODE_CALLS[name]))
        # Its mode is behind a pointer too.
        lines += _on(calls["openat2"], [(bpf.RETURN, 0, 0, bpf.refuse(errno.ENOSYS))])
        lines += _on(calls["unshare"], _no_namespace())
        lines += _on(calls["clone"], _no_namespace())
        # Its flags are behind a pointer, where no filter sees them. Programs use the older call instead.
        lines += _on(calls["clone3"], [(bpf.RETURN, 0, 0, bpf.refuse(errno.ENOSYS))])
    lines.append((bpf.RETURN, 0, 0, bpf.ALLOW))
    return bpf.assemble(lines)


def install_filter(code: bytes) -> None:
    """For the calling thread and all that it starts; it must have given up the right to gain rights."""
    program = bpf.KernelProgram(code)
    if bpf.libc().prctl(_SET_SECCOMP, _FILTER, program.header, 0, 0) != 0:
        raise Unfiltered(ctypes.get_errno(), "Seccomp accepts no filter")


def open_filter(code: bytes) -> int:
    """A handle from which a program reads the filter; the caller closes it."""
    handle = os.memfd_create("filter", os.MFD_CLOEXEC)
    os.write(handle, code)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _numbers(table: str, architecture: int) -> dict[str, int]:
    """The numbers of the calls that the architecture has."""
    rows = (re.split("[=/]", word) for word in table.split())
    found = {name: int(first if architecture == X86_64 else second) for name, first, second in rows}
    return {name: number for name, number in found.items() if number >= 0}


def _on(number: int, body: list[bpf.Line]) -> list[bpf.Line]:
    """Run `body`, which always decides, if it is this call."""
    return [(bpf.EQUAL, 0, len(body), number), *body]


def _socket_family(sockets: Sockets) -> list[bpf.Line]:
    """A local service could reach out for the command, so Unix sockets count as network; pairs are another call."""
    families = {"network": (_UNIX, _INET, _INET6, _NETLINK), "own": (_INET, _INET6), "none": ()}[sockets]
    lines: list[bpf.Line] = [(bpf.LOAD, 0, 0, bpf.ARGUMENTS)]
    for family in families:
        lines += [(bpf.EQUAL, 0, 1, family), (bpf.RETURN, 0, 0, bpf.ALLOW)]
    # Programs that only list the interfaces go on if there is no such thing as a netlink socket.
    lines += [(bpf.EQUAL, 0, 1, _NETLINK), (bpf.RETURN, 0, 0, bpf.refuse(errno.ENOSYS))]
    return [*lines, (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM))]


def _pair_kind() -> list[bpf.Line]:
    """A pair of datagram sockets could be connected elsewhere afterwards; one with a connection can't."""
    return [
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8),
        (bpf.AND, 0, 0, _KIND),
        (bpf.EQUAL, 1, 0, _STREAM),
        (bpf.EQUAL, 0, 1, _SEQUENCED),
        (bpf.RETURN, 0, 0, bpf.ALLOW),
        (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM)),
    ]


def _terminal_input() -> list[bpf.Line]:
    lines: list[bpf.Line] = [(bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8)]
    for request in _TERMINAL_INPUT:
        lines += [(bpf.EQUAL, 0, 1, request), (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM))]
    return [*lines, (bpf.RETURN, 0, 0, bpf.ALLOW)]


def _keep_mark(resource: int, pointer: int | None) -> list[bpf.Line]:
    """The limit that marks our processes can be read, and not changed: see `tools/local/marks.py`."""
    lines: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * resource),
        (bpf.EQUAL, 1, 0, _MARKING_LIMIT),
        (bpf.RETURN, 0, 0, bpf.ALLOW),
    ]
    if pointer is not None:
        # Without new values it only reads.
        lines += [
            (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * pointer),
            (bpf.EQUAL, 0, 3, 0),
            (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * pointer + 4),
            (bpf.EQUAL, 0, 1, 0),
            (bpf.RETURN, 0, 0, bpf.ALLOW),
        ]
    return [*lines, (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM))]


def _no_set_user_id(mode: int, flags: int | None) -> list[bpf.Line]:
    """A program that takes on your rights, whatever process starts it, would outlive the sandbox."""
    decide: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * mode),
        (bpf.ANY_BIT, 0, 1, _SET_USER_ID),
        (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM)),
        (bpf.RETURN, 0, 0, bpf.ALLOW),
    ]
    if flags is None:
        return decide
    # Otherwise the mode means nothing.
    makes: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * flags),
        (bpf.ANY_BIT, 1, 0, _MAKES_FILE),
        (bpf.RETURN, 0, 0, bpf.ALLOW),
    ]
    return [*makes, *decide]


def _no_namespace() -> list[bpf.Line]:
    return [
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS),
        (bpf.ANY_BIT, 0, 1, _NEW_NAMESPACE),
        (bpf.RETURN, 0, 0, bpf.refuse(errno.EPERM)),
        (bpf.RETURN, 0, 0, bpf.ALLOW),
    ]
