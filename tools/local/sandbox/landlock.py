"""The sandbox of Landlock and seccomp, for machines where bubblewrap is missing or forbidden.

A thread drops its rights, starts the command and ends. It hides and writes the same places as bubblewrap. It can't
hold files of the workspace, has no process namespace, and without the network not even a loopback.
"""

# Runs for each command, where pathlib would cost as much as the rest.
# ruff: noqa: PTH112

import ctypes
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sidecar.config.paths import closed_after
from tools.local.attribution.attributes import AttributeGuard
from tools.local.bpf import libc
from tools.local.sandbox.access import LIBRARIES, CommandAccess, CommandLaunch, temporary_directory
from tools.local.sandbox.seccomp import Sockets, build_filter, install_filter

#: Everything in `/` but these, then the useful parts of them. Other processes' entries in `/proc` show only their
#: names: Landlock treats a look inside as tracing, and forbids it.
_CLOSED = frozenset({"home", "root", "tmp", "run", "var", "dev", "mnt", "media", "Users"})
_USEFUL = ("/var/lib", "/var/cache", "/run/systemd/resolve")
#: No terminals: yours are beside any new one, and a rule covers all of them.
_DEVICES = """
/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/shm
"""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_READ = 0b1101  # execute, read a file, read a directory
_FILE_ONLY = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
#: Number of access kinds in each version of Landlock.
_KINDS = {1: 13, 2: 14, 3: 15, 4: 15}
_NO_NEW_PRIVS, _IN_BOUND, _DROP_BOUND = 38, 23, 24
#: Root in a container needs these for a workspace of another user.
_KEPT_CAPABILITIES = frozenset({0, 1, 3})  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER
_MAX_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522


class Landlock:
    tier = "landlock"
    supervised = False
    holds_files = False
    own_network = False

    def __init__(self) -> None:
        self._tmp = temporary_directory(self)

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        hidden = {*access.hidden, *access.private}
        top = [f"/{entry}" for entry in os.listdir("/") if entry not in _CLOSED]  # noqa: PTH208
        system = [*top, *_USEFUL] if access.system else LIBRARIES
        homes = () if access.approved else (access.home, os.path.realpath(access.home))
        read = [part for place in system for part in _without(place, {*hidden, *homes})]
        read += [part for place in access.readable for part in _without(place, hidden)]
        read += [part for place in access.granted for part in _without(place, set(access.private))]
        inside = list(_without(access.workspace, hidden))
        write = [*(inside if access.writes else ()), self._tmp, *_devices(access), *access.writable]
        read += [] if access.writes else inside
        sockets: Sockets = "network" if access.network else "none"
        code = build_filter(sockets, approved=access.approved, attributes=access.writes)
        restrict = partial(restrict_thread, read, write, code)
        # A task's worktree is in the data directory.
        covered = [place for place in hidden if not f"{access.workspace}/".startswith(f"{place}/")]
        guard = AttributeGuard(write, covered) if access.writes else None
        return CommandLaunch(argv, {**environment, "TMPDIR": self._tmp}, restrict, guard=guard)


def _devices(access: CommandAccess) -> list[str]:
    """A search that is led to an endless device would read it for ever."""
    return _DEVICES.split() if access.system else ["/dev/null", "/dev/urandom"]


def _without(place: str, hidden: set[str]) -> Iterator[str]:
    """A directory, or its entries where one of them is hidden: a rule covers everything beneath."""
    if not place.startswith("/") or place in hidden or place == "/":
        return
    if not any(each.startswith(f"{place}/") for each in hidden):
        yield place
        return
    try:
        entries = os.listdir(place)  # noqa: PTH208
    except OSError:
        return
    for entry in entries:
        yield from _without(f"{place}/{entry}", hidden)


class Unconfined(OSError):
    """A right could not be dropped, so nothing runs."""


def restrict_thread(read: Sequence[str], write: Sequence[str], code: bytes) -> None:
    """From now on the calling thread reads and writes only beneath these places; `code` is its seccomp filter.

    Root also loses its capabilities. Every process that the thread starts lacks the same rights.
    """
    version = libc().syscall(_CREATE, None, 0, 1)
    if version < 1:
        raise Unconfined("This kernel has no Landlock")
    if libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise Unconfined("The process could still gain rights")
    if os.geteuid() == 0:
        _drop_capabilities()
    _restrict_files(version, read, write)
    install_filter(code)


def _restrict_files(version: int, read: Sequence[str], write: Sequence[str]) -> None:
    everything = (1 << _KINDS.get(version, 16)) - 1
    scoped = 3 if version >= 6 else 0  # no signals and no abstract sockets to the outside
    attributes = struct.pack("QQQ", everything, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc().syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        raise Unconfined("Landlock accepts no rules")
    with closed_after(rules):
        for allowed, places in ((_READ, read), (everything, write)):
            for place in places:
                _allow(rules, allowed & everything, place)
        if libc().syscall(_RESTRICT, rules, 0) != 0:
            raise Unconfined("Landlock does not enforce the rules")


def _allow(rules: int, allowed: int, place: str) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # no rule for a missing place
    with closed_after(handle):
        if not os.path.isdir(place):
            allowed &= _FILE_ONLY
        if libc().syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, handle), 0) != 0:
            raise Unconfined(f"Landlock accepts no rule for {place}")


def _drop_capabilities() -> None:
    """A program that root starts gets the whole bounding set, so shrink that first."""
    for capability in range(_MAX_CAPABILITIES):
        within = libc().prctl(_IN_BOUND, capability, 0, 0, 0)
        if within < 0:
            break  # the last one of this kernel
        if within and capability not in _KEPT_CAPABILITIES and libc().prctl(_DROP_BOUND, capability, 0, 0, 0) != 0:
            raise Unconfined("Root would keep its capabilities")
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    if libc().capget(header, held) != 0:
        raise Unconfined("Root's capabilities are unknown")
    kept = struct.unpack("6I", held.raw)[1] & sum(1 << capability for capability in _KEPT_CAPABILITIES)
    if libc().capset(header, struct.pack("6I", kept, kept, 0, 0, 0, 0)) != 0:
        raise Unconfined("Root would keep its capabilities")
