"""The machine's processes, as far as a call's processes must be told from all others.

On Linux `/proc` tells parent, session and environment, and orphans come to this process because it is a subreaper. On
other systems `ps` tells parent and group only: what daemonized away from its group is not found there.
"""

# Called so often that building a Path would cost more than the call itself.
# ruff: noqa: PTH208

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

_PR_SET_CHILD_SUBREAPER = 36


class Entry(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    zombie: bool


class ProcessTable(Protocol):
    def entries(self) -> dict[int, Entry]: ...

    def environment(self, pid: int) -> frozenset[bytes] | None:
        """`NAME=value` as the process was started with; `None` if it cannot be seen."""

    def command(self, pid: int) -> str: ...

    def children(self) -> Iterable[int] | None:
        """Our own children, quickly; `None` if only `entries` can tell."""


class LinuxTable:
    def __init__(self) -> None:
        # Orphans of our commands become our children, so that they can be found and reaped.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def entries(self) -> dict[int, Entry]:
        found = {}
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    # The name in parentheses may hold anything, so the fields are counted from its end.
                    fields = _content(f"/proc/{name}/stat").rpartition(b")")[2].split()
                    pid = int(name)
                    found[pid] = Entry(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[0] in b"ZX")
        return found

    def environment(self, pid: int) -> frozenset[bytes] | None:
        try:
            return frozenset(filter(None, _content(f"/proc/{pid}/environ").split(b"\0")))
        except OSError:
            return None

    def command(self, pid: int) -> str:
        with suppress(OSError):
            line = _content(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
            return (line or _content(f"/proc/{pid}/comm").strip()).decode("utf-8", "replace")[:500]
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
                    found.extend(map(int, _content(f"/proc/self/task/{thread}/children").split()))
        except OSError:
            return None
        return found


class PortableTable:
    """Only while something is being ended, so that the cost of `ps` does not matter."""

    def entries(self) -> dict[int, Entry]:
        listing = subprocess.run(
            ["ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False, timeout=5
        ).stdout
        found = {}
        for line in listing.splitlines():
            pid, parent, group, state = line.split(None, 3)
            found[int(pid)] = Entry(int(pid), int(parent), int(group), int(group), state.startswith("Z"))
        return found

    def environment(self, pid: int) -> frozenset[bytes] | None:
        return None

    def command(self, pid: int) -> str:
        return subprocess.run(
            ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False, timeout=5
        ).stdout.strip()[:500]

    def children(self) -> Iterable[int] | None:
        return ()


def process_table() -> ProcessTable:
    return LinuxTable() if sys.platform == "linux" and Path("/proc/self/stat").exists() else PortableTable()


def _content(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks = []
        while chunk := os.read(handle, 65536):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(handle)
