"""Ends everything a call started, to the last descendant, and reaps its orphans.

A process belongs to a call if it is in the call's session, descends from a member, or has the call's mark in its
environment or its limits. The reaper touches nothing else: this process may have other children. On Linux `/proc` shows
parent, session, environment and limits, and orphans come to us because we are a subreaper. Elsewhere `ps` shows parent
and group only, so a process that leaves its group is not found.
"""

# Runs so often that building a Path would cost more than the system call.
# ruff: noqa: PTH208

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from sidecar.config.paths import closed_after
from tools.host import Killed
from tools.local.confinement import strip_limits
from tools.local.environment import CALL_MARK, READER_MARK, SIDECAR_MARK, call_mark
from tools.local.marks import is_mark_of, limit_mark, read_mark

_PR_SET_CHILD_SUBREAPER = 36
#: Time for a process to end by itself, and time until we give up on one that can't be killed.
_GRACE_SECONDS = 0.5
_GIVE_UP_SECONDS = 1.2
_LOOK_SECONDS = 0.01
#: Kill more than this at once: a fork bomb must not get time to grow.
_CROWD = 64
#: A dead child that wasn't waited for in this time was a command's.
_UNCLAIMED_SECONDS = 1.0


class ProcessEntry(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    zombie: bool


class ProcessTable(Protocol):
    """The machine's processes."""

    def entries(self) -> dict[int, ProcessEntry]: ...

    def environment(self, pid: int) -> frozenset[bytes] | None:
        """`NAME=value` at its start; `None` if it is hidden."""

    def mark(self, pid: int) -> int | None:
        """The mark that a process can't take off, if it has one."""

    def command(self, pid: int) -> str: ...

    def children(self) -> Iterable[int] | None:
        """Our own children, quickly; `None` if only `entries` can tell."""


class LinuxTable:
    def __init__(self) -> None:
        # Orphans of our commands become our children, so that we can find and reap them.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def entries(self) -> dict[int, ProcessEntry]:
        found = {}
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    # The name in parentheses may hold anything, so count the fields from its end.
                    fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
                    pid = int(name)
                    found[pid] = ProcessEntry(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[0] in b"ZX")
        return found

    def environment(self, pid: int) -> frozenset[bytes] | None:
        try:
            return frozenset(filter(None, _read(f"/proc/{pid}/environ").split(b"\0")))
        except OSError:
            return None

    def mark(self, pid: int) -> int | None:
        return read_mark(pid)

    def command(self, pid: int) -> str:
        with suppress(OSError):
            line = _read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
            return (line or _read(f"/proc/{pid}/comm").strip()).decode("utf-8", "replace")[:500]
        return ""

    def children(self) -> Iterable[int] | None:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return ()
        found: list[int] = []
        try:
            for thread in os.listdir("/proc/self/task"):
                with suppress(FileNotFoundError):
                    found.extend(map(int, _read(f"/proc/self/task/{thread}/children").split()))
        except OSError:
            return None
        return found


class PortableTable:
    """Used only while something is being ended, so the cost of `ps` doesn't matter."""

    def entries(self) -> dict[int, ProcessEntry]:
        found = {}
        for line in _ps("-axo", "pid=,ppid=,pgid=,stat=").splitlines():
            pid, parent, group, state = line.split(None, 3)
            found[int(pid)] = ProcessEntry(int(pid), int(parent), int(group), int(group), state.startswith("Z"))
        return found

    def environment(self, pid: int) -> frozenset[bytes] | None:
        return None

    def mark(self, pid: int) -> int | None:
        return None

    def command(self, pid: int) -> str:
        return _ps("-o", "command=", "-p", str(pid)).strip()[:500]

    def children(self) -> Iterable[int] | None:
        return ()


def process_table() -> ProcessTable:
    return LinuxTable() if sys.platform == "linux" and Path("/proc/self/stat").exists() else PortableTable()


def has_commands(table: ProcessTable, marks: Collection[str]) -> bool:
    """Whether a process runs that one of these sidecars or shells started, and that can write in a workspace."""
    sidecars = {f"{SIDECAR_MARK}={mark}".encode() for mark in marks}
    for pid, entry in table.entries().items():
        if entry.zombie or pid == os.getpid():
            continue
        found = table.environment(pid) or frozenset()
        if found & sidecars and f"{READER_MARK}=1".encode() not in found:
            return True
        held = table.mark(pid)
        if any(is_mark_of(held, mark) for mark in marks):
            return True
    return False


class Reaper:
    """`started` are always the commands that run at the moment, by pid."""

    def __init__(self, table: ProcessTable, mark: str) -> None:
        self._table = table
        self._mark = mark
        self._sidecar = f"{SIDECAR_MARK}={mark}".encode()
        self._own = table.environment(os.getpid()) or frozenset()
        self._orphans: dict[int, float] = {}
        #: Our own helper, which is no command's.
        self.guardian: int | None = None

    def children(self) -> frozenset[int]:
        """Our children now: none of them can descend from a command that starts later."""
        return frozenset(self._table.children() or ())

    def has_leftovers(self, root: int, call_id: str, started: frozenset[int]) -> bool:
        """Whether an ended command may have left a process. Quick, because it nearly never has."""
        if _group_exists(root):
            return True
        children = self._table.children()
        if children is not None and all(child in started for child in children):
            return False
        members = self.members(root, call_id, started)
        self._reap(members, started)
        return any(not entry.zombie for entry in members)

    async def end(self, root: int, call_id: str, started: frozenset[int], *, supervised: bool = False) -> list[Killed]:
        """Terminate, wait a little, kill. Returns the ended processes; of a crowd, the first.

        With `supervised`, `root` supervises a sandbox and gets no SIGTERM: its end would kill everything inside before
        that could end by itself.
        """
        seen: set[int] = set()
        ended: list[Killed] = []
        patience = time.monotonic() + _GRACE_SECONDS
        deadline = patience + _GIVE_UP_SECONDS
        clean = 0
        _signal_group(root, signal.SIGSTOP)  # a fork bomb must not grow while we look
        while clean < 2:  # the second look finds a child born during the first
            members = self.members(root, call_id, started)
            self._reap(members, started)
            alive = [entry.pid for entry in members if not entry.zombie]
            if not alive:
                clean += 1
                await asyncio.sleep(_LOOK_SECONDS if clean < 2 and seen else 0)
                continue
            clean = 0
            new = [pid for pid in alive if pid not in seen]
            seen.update(new)
            commands = [pid for pid in new if not (supervised and _supervises(pid, root, members))]
            ended += [self._describe(pid) for pid in commands[: max(_CROWD - len(ended), 0)]]
            now = time.monotonic()
            if now > deadline:
                break
            if len(alive) > _CROWD:
                patience = now
            if now < patience:
                _signal(commands, signal.SIGTERM)
                _signal(new, signal.SIGCONT)
                _signal_group(root, signal.SIGCONT)
            else:
                _signal_group(root, signal.SIGKILL)
                _signal(alive, signal.SIGKILL)
            await asyncio.sleep(_LOOK_SECONDS)
        for pid in seen - started:
            _wait(pid)
        return ended

    async def sweep(self, call_id: str | None, started: frozenset[int]) -> list[Killed]:
        """Kill what an earlier process with the same data directory left of one call, or of all calls."""
        mark = self._sidecar if call_id is None else f"{CALL_MARK}={call_mark(call_id)}".encode()
        ended: dict[int, Killed] = {}
        clean = 0
        while clean < 2:  # a process that is just starting a program shows no environment for a moment
            found = [
                pid
                for pid, entry in self._table.entries().items()
                if not entry.zombie and pid not in started and pid != os.getpid() and self._was_ours(pid, mark, call_id)
            ]
            clean = 0 if set(found) - ended.keys() else clean + 1
            ended.update((pid, self._describe(pid)) for pid in found if pid not in ended)
            _signal(found, signal.SIGKILL)
            await asyncio.sleep(_LOOK_SECONDS)
        return list(ended.values())

    def _was_ours(self, pid: int, mark: bytes, call_id: str | None) -> bool:
        if {mark, self._sidecar} <= (self._table.environment(pid) or frozenset()):
            return True
        held = self._table.mark(pid)
        return is_mark_of(held, self._mark) and (call_id is None or held == limit_mark(self._mark, call_id))

    def members(self, root: int, call_id: str, started: frozenset[int]) -> list[ProcessEntry]:
        entries = self._table.entries()
        mark, number = f"{CALL_MARK}={call_mark(call_id)}".encode(), limit_mark(self._mark, call_id)
        members: dict[int, ProcessEntry] = {}
        below: dict[int, list[ProcessEntry]] = {}
        for entry in entries.values():
            below.setdefault(entry.parent, []).append(entry)
        for entry in entries.values():
            if root in (entry.pid, entry.session, entry.group) or self._is_marked(entry, mark, number, started, root):
                members[entry.pid] = entry
        waiting = list(members)
        while waiting:
            for entry in below.get(waiting.pop(), ()):
                if entry.pid not in members:
                    members[entry.pid] = entry
                    waiting.append(entry.pid)
        return [entry for entry in members.values() if entry.pid == root or entry.pid not in started]

    def reap_group(self, group: int) -> bool:
        """Reap a group whose first process is already reaped; whether nothing is left of it."""
        with suppress(ChildProcessError):
            while os.waitpid(-group, os.WNOHANG)[0]:
                pass
        return not _group_exists(group)

    def reap_orphans(self, started: frozenset[int]) -> None:
        """Reap orphans that ended by themselves. Leave a child that other code here waits for."""
        now = time.monotonic()
        unclaimed: dict[int, float] = {}
        for pid in self._table.children() or ():
            if pid not in started:
                since = unclaimed[pid] = self._orphans.get(pid, now)
                if now - since > _UNCLAIMED_SECONDS:
                    _wait(pid)
        self._orphans = unclaimed

    def _describe(self, pid: int) -> Killed:
        return Killed(pid, strip_limits(self._table.command(pid)))

    def _is_marked(self, entry: ProcessEntry, mark: bytes, number: int, started: frozenset[int], root: int) -> bool:
        if entry.zombie or entry.pid in started or entry.pid in (os.getpid(), self.guardian):
            return False
        if self._table.mark(entry.pid) == number:
            return True
        environment = self._table.environment(entry.pid)
        if environment is None:
            return False
        if mark in environment:
            return self._sidecar in environment
        # Only a command wipes its environment, so an orphan that shares nothing with ours is a command's. It is this
        # command's if no other runs.
        orphan = entry.parent == os.getpid() and entry.session != os.getsid(0) and not environment & self._own
        return orphan and started <= {root}

    def _reap(self, members: list[ProcessEntry], started: frozenset[int]) -> None:
        for entry in members:
            if entry.zombie and entry.parent == os.getpid() and entry.pid not in started:
                _wait(entry.pid)


def _supervises(pid: int, root: int, members: list[ProcessEntry]) -> bool:
    """The first process, and its only child, which is the first one inside the sandbox."""
    return pid == root or any(entry.pid == pid and entry.parent == root for entry in members)


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.killpg(group, number)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def _wait(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _ps(*options: str) -> str:
    return subprocess.run(["ps", *options], capture_output=True, text=True, check=False, timeout=5).stdout


def _read(path: str) -> bytes:
    with closed_after(os.open(path, os.O_RDONLY | os.O_CLOEXEC)) as handle:
        chunks = []
        while chunk := os.read(handle, 65536):
            chunks.append(chunk)
        return b"".join(chunks)
