"""Run as a program of its own: gives up rights for good, then becomes the command. It imports next to nothing.

    python -I -S helper.py SPEC -- COMMAND…

SPEC is JSON: `read` and `write` are lists of paths, `network` is whether sockets are left, `tmp` the directory for what
is temporary. What cannot be given up is an error, and the command does not run.
"""

import ctypes
import json
import os
import struct
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_READ = 0b1101  # execute, read a file, read a directory
_FILE_ONLY = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
#: How many kinds of access each version of Landlock knows.
_KINDS = {1: 13, 2: 14, 3: 15, 4: 15}
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_SOCKET = {"x86_64": 41, "aarch64": 198}
_IO_URING = 425
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def main() -> None:
    spec = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        _fail("this kernel has no Landlock")
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        _fail("rights could still be gained")
    if not spec["network"]:
        _without_network(libc)
    _confine(libc, version, spec)
    os.environ["TMPDIR"] = spec["tmp"]
    try:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - an argv, as it was given
    except OSError as error:
        _fail(f"{sys.argv[3]} cannot be started: {error.strerror}")


def _confine(libc: ctypes.CDLL, version: int, spec: dict[str, list[str]]) -> None:
    everything = (1 << _KINDS.get(version, 16)) - 1
    scoped = 3 if version >= 6 else 0  # no signals and no abstract sockets to the outside
    attributes = struct.pack("QQQ", everything, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        _fail("no rules can be made")
    for allowed, places in ((_READ, spec["read"]), (everything, spec["write"])):
        for place in places:
            _allow(libc, rules, allowed & everything, place)
    if libc.syscall(_RESTRICT, rules, 0) != 0:
        _fail("the rules do not hold")
    os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, allowed: int, place: str) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    if not os.path.isdir(place):  # noqa: PTH112 - pathlib would cost as much as all the rest
        allowed &= _FILE_ONLY
    if libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, handle), 0) != 0:
        _fail(f"no rule for {place}")
    os.close(handle)


def _without_network(libc: ctypes.CDLL) -> None:
    """No socket can be made, not even a local one: a local service may do for others what they ask.

    Pipes and pairs of sockets are left. A call of another architecture ends the process.
    """
    machine = os.uname().machine
    if machine not in _SOCKET:
        _fail(f"no rule against the network on {machine}")
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
        _fail("the network cannot be shut")


def _fail(what: str) -> None:
    os.write(2, f"sandbox: {what}; nothing was run\n".encode())
    os._exit(126)


if __name__ == "__main__":
    main()
