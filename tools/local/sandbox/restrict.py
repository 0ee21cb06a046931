"""Drops rights of the calling thread for good: Landlock for files, seccomp for sockets, and root's capabilities.

Rights belong to a thread, and every process it starts lacks them too. A right that can't be dropped is an error.
"""

# Runs for each command, where pathlib would cost as much as the rest.
# ruff: noqa: PTH112

import ctypes
import os
import struct
from collections.abc import Sequence
from functools import cache

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_READ = 0b1101  # execute, read a file, read a directory
_FILE_ONLY = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
#: Number of access kinds in each version of Landlock.
_KINDS = {1: 13, 2: 14, 3: 15, 4: 15}
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER, _IN_BOUND, _DROP_BOUND = 38, 22, 2, 23, 24
_SOCKET = {"x86_64": 41, "aarch64": 198}
_IO_URING = 425
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: Root in a container needs these for a workspace of another user.
_KEPT_CAPABILITIES = frozenset({0, 1, 3})  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER
_MAX_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522


class Unconfined(OSError):
    """A right could not be dropped, so nothing runs."""


def restrict_thread(read: Sequence[str], write: Sequence[str], *, network: bool) -> None:
    """From now on the calling thread reads and writes only beneath these places."""
    libc = _libc()
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        raise Unconfined("This kernel has no Landlock")
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise Unconfined("The process could still gain rights")
    if os.geteuid() == 0:
        _drop_capabilities(libc)
    _restrict_files(libc, version, read, write)
    if not network:
        _forbid_sockets(libc)


def _restrict_files(libc: ctypes.CDLL, version: int, read: Sequence[str], write: Sequence[str]) -> None:
    everything = (1 << _KINDS.get(version, 16)) - 1
    scoped = 3 if version >= 6 else 0  # no signals and no abstract sockets to the outside
    attributes = struct.pack("QQQ", everything, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        raise Unconfined("Landlock accepts no rules")
    try:
        for allowed, places in ((_READ, read), (everything, write)):
            for place in places:
                _allow(libc, rules, allowed & everything, place)
        if libc.syscall(_RESTRICT, rules, 0) != 0:
            raise Unconfined("Landlock does not enforce the rules")
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, allowed: int, place: str) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # no rule for a missing place
    try:
        if not os.path.isdir(place):
            allowed &= _FILE_ONLY
        if libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, handle), 0) != 0:
            raise Unconfined(f"Landlock accepts no rule for {place}")
    finally:
        os.close(handle)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """A program that root starts gets the whole bounding set, so shrink that first."""
    for capability in range(_MAX_CAPABILITIES):
        within = libc.prctl(_IN_BOUND, capability, 0, 0, 0)
        if within < 0:
            break  # the last one of this kernel
        if within and capability not in _KEPT_CAPABILITIES and libc.prctl(_DROP_BOUND, capability, 0, 0, 0) != 0:
            raise Unconfined("Root would keep its capabilities")
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    if libc.capget(header, held) != 0:
        raise Unconfined("Root's capabilities are unknown")
    kept = struct.unpack("6I", held.raw)[1] & sum(1 << capability for capability in _KEPT_CAPABILITIES)
    if libc.capset(header, struct.pack("6I", kept, kept, 0, 0, 0, 0)) != 0:
        raise Unconfined("Root would keep its capabilities")


def _forbid_sockets(libc: ctypes.CDLL) -> None:
    """Forbid every socket, even local ones: a local service could reach out for the command.

    Pipes and socket pairs still work. A system call of another architecture kills the process.
    """
    machine = os.uname().machine
    if machine not in _SOCKET:
        raise Unconfined(f"No seccomp filter for {machine}")
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050000 | 1, 0x7FFF0000
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, _ARCHITECTURE[machine]),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the x32 numbers of the same calls
        (give, 0, 0, kill),
        (equal, 1, 0, _SOCKET[machine]),
        (equal, 0, 1, _IO_URING),  # io_uring could open sockets unseen
        (give, 0, 0, refuse),
        (give, 0, 0, allow),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code)
    filled = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    if libc.prctl(_SET_SECCOMP, _FILTER, filled, 0, 0) != 0:
        raise Unconfined("Seccomp accepts no filter")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
