"""Gives up rights of the calling thread, for good: Landlock for files, seccomp for sockets, and what root could do.

All of these belong to a thread, and whatever it starts has them no more either. What cannot be given up is an error.
"""

# Called with every command: pathlib would cost as much as all the rest.
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
#: How many kinds of access each version of Landlock knows.
_KINDS = {1: 13, 2: 14, 3: 15, 4: 15}
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER, _IN_BOUND, _DROP_BOUND = 38, 22, 2, 23, 24
_SOCKET = {"x86_64": 41, "aarch64": 198}
_IO_URING = 425
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: As root in a container a workspace may belong to somebody else: over the owners of files, and nothing more.
_OWNERS = frozenset({0, 1, 3})  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER
_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522


class Unconfined(OSError):
    """Something could not be given up, so nothing is run."""


def give_up(read: Sequence[str], write: Sequence[str], *, network: bool) -> None:
    """After this the calling thread reads and writes only beneath these places."""
    libc = _libc()
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        raise Unconfined("this kernel has no Landlock")
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise Unconfined("rights could still be gained")
    if os.geteuid() == 0:
        _only_over_owners(libc)
    _confine(libc, version, read, write)
    if not network:
        _without_network(libc)


def _confine(libc: ctypes.CDLL, version: int, read: Sequence[str], write: Sequence[str]) -> None:
    everything = (1 << _KINDS.get(version, 16)) - 1
    scoped = 3 if version >= 6 else 0  # no signals and no abstract sockets to the outside
    attributes = struct.pack("QQQ", everything, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        raise Unconfined("no rules can be made")
    try:
        for allowed, places in ((_READ, read), (everything, write)):
            for place in places:
                _allow(libc, rules, allowed & everything, place)
        if libc.syscall(_RESTRICT, rules, 0) != 0:
            raise Unconfined("the rules do not hold")
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, allowed: int, place: str) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not os.path.isdir(place):
            allowed &= _FILE_ONLY
        if libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, handle), 0) != 0:
            raise Unconfined(f"no rule for {place}")
    finally:
        os.close(handle)


def _only_over_owners(libc: ctypes.CDLL) -> None:
    """A program that root starts is given all that is within the bound, so the bound is drawn first."""
    for capability in range(_CAPABILITIES):
        within = libc.prctl(_IN_BOUND, capability, 0, 0, 0)
        if within < 0:
            break  # this kernel knows no more of them
        if within and capability not in _OWNERS and libc.prctl(_DROP_BOUND, capability, 0, 0, 0) != 0:
            raise Unconfined("root would keep its powers")
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    if libc.capget(header, held) != 0:
        raise Unconfined("root does not know its powers")
    kept = struct.unpack("6I", held.raw)[1] & sum(1 << capability for capability in _OWNERS)
    if libc.capset(header, struct.pack("6I", kept, kept, 0, 0, 0, 0)) != 0:
        raise Unconfined("root would keep its powers")


def _without_network(libc: ctypes.CDLL) -> None:
    """No socket can be made, not even a local one: a local service may do for others what they ask.

    Pipes and pairs of sockets are left. A call of another architecture ends the process.
    """
    machine = os.uname().machine
    if machine not in _SOCKET:
        raise Unconfined(f"no rule against the network on {machine}")
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050000 | 1, 0x7FFF0000
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, _ARCHITECTURE[machine]),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the same calls by other numbers
        (give, 0, 0, kill),
        (equal, 1, 0, _SOCKET[machine]),
        (equal, 0, 1, _IO_URING),  # which could open sockets without asking
        (give, 0, 0, refuse),
        (give, 0, 0, allow),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code)
    filled = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    if libc.prctl(_SET_SECCOMP, _FILTER, filled, 0, 0) != 0:
        raise Unconfined("the network cannot be shut")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
