"""Ends what a call started, to the last descendant, and buries orphans that came to us.

A process belongs to a call if it is in the session that was opened for it, descends from one that belongs, or carries
the call's mark in its environment. Nothing else is touched: this process may have other children.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

from tools.host import Killed
from tools.local.environment import CALL_MARK, SIDECAR_MARK, call_mark
from tools.local.limits import without_limits
from tools.local.table import Entry, ProcessTable

#: How long a process may take to end by itself, and how long until we give up on one that cannot be killed.
_GRACE = 0.5
_GIVE_UP = 1.2
_LOOK = 0.01
#: So many processes are not asked politely: what forks without end must not get time for it.
_CROWD = 64
#: A dead child that nobody buried for so long was nobody's but a command's.
_UNCLAIMED = 1.0


class Reaper:
    def __init__(self, table: ProcessTable, mark: str) -> None:
        self._table = table
        self._sidecar = f"{SIDECAR_MARK}={mark}".encode()
        self._own = table.environment(os.getpid()) or frozenset()
        self._strangers: dict[int, float] = {}

    def children(self) -> frozenset[int]:
        """Our children of this moment: none of them can descend from a command that is started after it."""
        return frozenset(self._table.children() or ())

    def leftovers(self, root: int, call_id: str, started: frozenset[int]) -> bool:
        """After the end of a command: may it have left something? Quick, because nearly always it has not."""
        try:
            os.killpg(root, 0)
        except ProcessLookupError:
            pass
        except PermissionError:
            return True
        else:
            return True
        children = self._table.children()
        if children is None or not all(child in started for child in children):
            members = self.members(root, call_id, started)
            self._bury(members, started)
            return any(not entry.zombie for entry in members)
        return False

    async def end(self, root: int, call_id: str, started: frozenset[int], *, watched: bool = False) -> list[Killed]:
        """Ask, wait a little, insist. Returns what had to be ended, of a crowd its first.

        With `watched` the first process only watches over a sandbox. It is not asked: with its end everything inside
        would be gone at once, without having been asked either.
        """
        seen: set[int] = set()
        ended: list[Killed] = []
        patience = time.monotonic() + _GRACE
        deadline = patience + _GIVE_UP
        clean = 0
        _signal_group(root, signal.SIGSTOP)  # what forks without end must not grow while we look
        while clean < 2:  # a child born while we looked is seen by the second look
            members = self.members(root, call_id, started)
            self._bury(members, started)
            alive = [entry.pid for entry in members if not entry.zombie]
            if not alive:
                clean += 1
                await asyncio.sleep(_LOOK if clean < 2 and seen else 0)
                continue
            clean = 0
            new = [pid for pid in alive if pid not in seen]
            seen.update(new)
            told = [pid for pid in new if not (watched and self._watches(pid, root, members))]
            ended += [self._told(pid) for pid in told[: max(_CROWD - len(ended), 0)]]
            now = time.monotonic()
            if now > deadline:
                break
            if len(alive) > _CROWD:
                patience = now
            if now < patience:
                _signal(told, signal.SIGTERM)
                _signal(new, signal.SIGCONT)
                _signal_group(root, signal.SIGCONT)
            else:
                _signal_group(root, signal.SIGKILL)
                _signal(alive, signal.SIGKILL)
            await asyncio.sleep(_LOOK)
        for pid in seen - started:
            _wait(pid)
        return ended

    def _told(self, pid: int) -> Killed:
        return Killed(pid, without_limits(self._table.command(pid)))

    @staticmethod
    def _watches(pid: int, root: int, members: list[Entry]) -> bool:
        """The first process, and its only child, which is the first one inside."""
        return pid == root or any(entry.pid == pid and entry.parent == root for entry in members)

    async def sweep(self, call_id: str | None, started: frozenset[int]) -> list[Killed]:
        """What an earlier process with the same data directory left of a call, or of all calls."""
        mark = self._sidecar if call_id is None else f"{CALL_MARK}={call_mark(call_id)}".encode()
        ended: dict[int, Killed] = {}
        clean = 0
        while clean < 2:  # a process that is just starting a program shows no environment for a moment
            found = [
                pid
                for pid, entry in self._table.entries().items()
                if not entry.zombie
                and pid not in started
                and pid != os.getpid()
                and {mark, self._sidecar} <= (self._table.environment(pid) or frozenset())
            ]
            clean = 0 if set(found) - ended.keys() else clean + 1
            ended.update((pid, self._told(pid)) for pid in found if pid not in ended)
            _signal(found, signal.SIGKILL)
            await asyncio.sleep(_LOOK)
        return list(ended.values())

    def members(self, root: int, call_id: str, started: frozenset[int]) -> list[Entry]:
        entries = self._table.entries()
        mark = f"{CALL_MARK}={call_mark(call_id)}".encode()
        members: dict[int, Entry] = {}
        below: dict[int, list[Entry]] = {}
        for entry in entries.values():
            below.setdefault(entry.parent, []).append(entry)
        for entry in entries.values():
            if root in (entry.pid, entry.session, entry.group) or self._marked(entry, mark, started, root):
                members[entry.pid] = entry
        open_ends = list(members)
        while open_ends:
            for entry in below.get(open_ends.pop(), ()):
                if entry.pid not in members:
                    members[entry.pid] = entry
                    open_ends.append(entry.pid)
        return [entry for entry in members.values() if entry.pid == root or entry.pid not in started]

    def _marked(self, entry: Entry, mark: bytes, started: frozenset[int], root: int) -> bool:
        if entry.zombie or entry.pid in started or entry.pid == os.getpid():
            return False
        environment = self._table.environment(entry.pid)
        if environment is None:
            return False
        if mark in environment:
            return self._sidecar in environment
        # An orphan of ours that shares nothing with our own environment had it wiped: only a command does that. Whose,
        # can be told only if no other command runs.
        orphan = entry.parent == os.getpid() and entry.session != os.getsid(0) and not environment & self._own
        return orphan and started <= {root}

    def _bury(self, members: list[Entry], started: frozenset[int]) -> None:
        for entry in members:
            if entry.zombie and entry.parent == os.getpid() and entry.pid not in started:
                _wait(entry.pid)

    def bury_group(self, group: int) -> bool:
        """Orphans of a group whose first process has been waited for; whether nothing is left of it."""
        with suppress(ChildProcessError):
            while os.waitpid(-group, os.WNOHANG)[0]:
                pass
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False

    def bury_strangers(self, started: frozenset[int]) -> None:
        """Orphans that ended by themselves. A child that somebody else here waits for is left to them."""
        now = time.monotonic()
        unclaimed: dict[int, float] = {}
        for pid in self._table.children() or ():
            if pid not in started:
                since = unclaimed[pid] = self._strangers.get(pid, now)
                if now - since > _UNCLAIMED:
                    _wait(pid)
        self._strangers = unclaimed


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
