"""The seccomp filter of a command: system calls that lead out of a sandbox fail, in every tier.

Namespaces and Landlock confine files and networks. They don't confine Unix sockets that stand in the file system, the
kernel's keyring, io_uring (whose calls no filter sees), virtual machine sockets, or input pushed into a terminal. A
call of another architecture kills the process: its numbers mean other calls.
"""

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Literal

#: Which sockets a command may make: every kind that reaches a network, those of a network of its own, or none.
Sockets = Literal["network", "own", "none"]

_SET_SECCOMP, _FILTER = 22, 2
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED, _KIND = 1, 5, 0xF
#: Push a character into a terminal's input, and the same for a console.
_TERMINAL_INPUT = (0x5412, 0x541C)
_MARKING_LIMIT = 15
#: New namespaces would give a command capabilities of its own in the kernel.
_NEW_NAMESPACE = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000 | 0x80

#: Numbers on x86_64 and aarch64; -1 where there is no such call.
_CALLS = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "unshare": (272, 97),
    "clone": (56, 220),
    "clone3": (435, 435),
    "setrlimit": (160, 164),
    "prlimit64": (302, 261),
}
#: Calls that give a file its mode: which argument it is, and which one says whether a file is made at all.
_MODE_CALLS: dict[str, tuple[tuple[int, int], int, int | None]] = {
    "chmod": ((90, -1), 1, None),
    "fchmod": ((91, 52), 1, None),
    "fchmodat": ((268, 53), 2, None),
    "fchmodat2": ((452, 452), 2, None),
    "creat": ((85, -1), 1, None),
    "mknod": ((133, -1), 1, None),
    "mknodat": ((259, 33), 2, None),
    "open": ((2, -1), 2, 1),
    "openat": ((257, 56), 3, 2),
}
_OPENAT2 = 437
_MAKES_FILE = 0o100 | 0o20000000  # O_CREAT, and what O_TMPFILE has beside O_DIRECTORY
_SET_USER_ID = 0o4000
#: Programs take these as missing, and go on without them.
_MISSING_CALLS = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_REFUSED_CALLS = {
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "iopl": (172, -1),
    "ioperm": (173, -1),
}
#: A debugger or a container that you approved may use these, on what is in its sandbox.
_APPROVED_CALLS = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
}
#: Landlock doesn't confine them.
_ATTRIBUTE_CALLS = {
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, -1),
    "fchown": (93, 55),
    "lchown": (94, -1),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}

Line = tuple[int, int, int, int]


class Unfiltered(OSError):
    """The filter can't be built or installed, so nothing runs."""


@cache
def build_filter(sockets: Sockets, *, approved: bool, attributes: bool = True) -> bytes:
    """The program for the kernel. Without `attributes`, modes, owners and attributes of files can't be changed.

    Raises `Unfiltered` on an architecture that we don't know.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURE:
        raise Unfiltered(f"No seccomp filter for {machine}")
    place = 0 if machine == "x86_64" else 1
    refused = {
        **_REFUSED_CALLS,
        **({} if approved else _APPROVED_CALLS),
        **({} if attributes else _ATTRIBUTE_CALLS),
    }
    lines: list[Line] = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_GIVE, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_GIVE, 0, 0, _KILL),
    ]
    for numbers, answer in ((_MISSING_CALLS, errno.ENOSYS), (refused, errno.EPERM)):
        for number in (each[place] for each in numbers.values() if each[place] >= 0):
            lines += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _refusal(answer))]
    lines += _on(_CALLS["socket"][place], _socket_family(sockets))
    lines += _on(_CALLS["ioctl"][place], _terminal_input())
    lines += _on(_CALLS["setrlimit"][place], _keep_mark(0, None))
    lines += _on(_CALLS["prlimit64"][place], _keep_mark(1, 2))
    if sockets != "network":
        lines += _on(_CALLS["socketpair"][place], _pair_kind())
    if not approved:
        if attributes:
            for of_call, mode, flags in _MODE_CALLS.values():
                if of_call[place] >= 0:
                    lines += _on(of_call[place], _no_set_user_id(mode, flags))
        # Its mode is behind a pointer too.
        lines += _on(_OPENAT2, [(_GIVE, 0, 0, _refusal(errno.ENOSYS))])
        lines += _on(_CALLS["unshare"][place], _no_namespace())
        lines += _on(_CALLS["clone"][place], _no_namespace())
        # Its flags are behind a pointer, where no filter sees them. Programs use the older call instead.
        lines += _on(_CALLS["clone3"][place], [(_GIVE, 0, 0, _refusal(errno.ENOSYS))])
    lines.append((_GIVE, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def install_filter(code: bytes) -> None:
    """For the calling thread and all that it starts; it must have given up the right to gain rights."""
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    if _libc().prctl(_SET_SECCOMP, _FILTER, program, 0, 0) != 0:
        raise Unfiltered(ctypes.get_errno(), "Seccomp accepts no filter")


def open_filter(code: bytes) -> int:
    """A handle from which a program reads the filter; the caller closes it."""
    handle = os.memfd_create("filter", os.MFD_CLOEXEC)
    os.write(handle, code)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _on(number: int, body: list[Line]) -> list[Line]:
    """Run `body`, which always decides, if it is this call."""
    return [(_EQUAL, 0, len(body), number), *body]


def _socket_family(sockets: Sockets) -> list[Line]:
    """A local service could reach out for the command, so Unix sockets count as network; pairs are another call."""
    families = {"network": (_UNIX, _INET, _INET6, _NETLINK), "own": (_INET, _INET6), "none": ()}[sockets]
    lines: list[Line] = [(_LOAD, 0, 0, _ARGUMENTS)]
    for family in families:
        lines += [(_EQUAL, 0, 1, family), (_GIVE, 0, 0, _ALLOW)]
    # Programs that only list the interfaces go on if there is no such thing as a netlink socket.
    lines += [(_EQUAL, 0, 1, _NETLINK), (_GIVE, 0, 0, _refusal(errno.ENOSYS))]
    return [*lines, (_GIVE, 0, 0, _refusal(errno.EPERM))]


def _pair_kind() -> list[Line]:
    """A pair of datagram sockets could be connected elsewhere afterwards; one with a connection can't."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8),
        (_AND, 0, 0, _KIND),
        (_EQUAL, 1, 0, _STREAM),
        (_EQUAL, 0, 1, _SEQUENCED),
        (_GIVE, 0, 0, _ALLOW),
        (_GIVE, 0, 0, _refusal(errno.EPERM)),
    ]


def _terminal_input() -> list[Line]:
    lines: list[Line] = [(_LOAD, 0, 0, _ARGUMENTS + 8)]
    for request in _TERMINAL_INPUT:
        lines += [(_EQUAL, 0, 1, request), (_GIVE, 0, 0, _refusal(errno.EPERM))]
    return [*lines, (_GIVE, 0, 0, _ALLOW)]


def _keep_mark(resource: int, pointer: int | None) -> list[Line]:
    """The limit that marks our processes can be read, and not changed: see `tools/local/marks.py`."""
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * resource),
        (_EQUAL, 1, 0, _MARKING_LIMIT),
        (_GIVE, 0, 0, _ALLOW),
    ]
    if pointer is not None:
        # Without new values it only reads.
        lines += [
            (_LOAD, 0, 0, _ARGUMENTS + 8 * pointer),
            (_EQUAL, 0, 3, 0),
            (_LOAD, 0, 0, _ARGUMENTS + 8 * pointer + 4),
            (_EQUAL, 0, 1, 0),
            (_GIVE, 0, 0, _ALLOW),
        ]
    return [*lines, (_GIVE, 0, 0, _refusal(errno.EPERM))]


def _no_set_user_id(mode: int, flags: int | None) -> list[Line]:
    """A program that takes on your rights, whoever starts it, would outlive the sandbox."""
    decide: list[Line] = [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * mode),
        (_ANY_BIT, 0, 1, _SET_USER_ID),
        (_GIVE, 0, 0, _refusal(errno.EPERM)),
        (_GIVE, 0, 0, _ALLOW),
    ]
    if flags is None:
        return decide
    # Otherwise the mode means nothing.
    makes: list[Line] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * flags), (_ANY_BIT, 1, 0, _MAKES_FILE), (_GIVE, 0, 0, _ALLOW)]
    return [*makes, *decide]


def _no_namespace() -> list[Line]:
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACE),
        (_GIVE, 0, 0, _refusal(errno.EPERM)),
        (_GIVE, 0, 0, _ALLOW),
    ]


def _refusal(number: int) -> int:
    return 0x00050000 | number


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
