"""One command's file changes, attributed to its own processes; and whether this machine can tell.

The port is `Attribution`. Where the kernel can't report changes (other systems, old kernels, a traced sidecar), there
is none: a scan then finds what changed meanwhile, and records that the author is unknown.
"""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from pathlib import Path
from typing import Protocol
from weakref import finalize

from tools.host import ScannedFile
from tools.local.attribution.attributes import AttributeGuard
from tools.local.attribution.versions import VersionLog
from tools.local.git import Repository
from tools.local.root import WorkspaceRoot, name_to_text, text_to_name
from tools.local.temporary import scratch_directory

#: Recorded for a command's changes whose author is unknown.
UNATTRIBUTED = "It changed while a command ran, and this machine can't tell whether the command or you changed it."
_OTHER_SYSTEM = "only Linux reports the changes of a command's own processes"


class Tracer(Protocol):
    """What a spawn needs of an attribution: a call in the thread that starts the command, and the end."""

    def install(self) -> None: ...

    def stop(self) -> "Future[None]":
        """After the last process has ended; done when everything that it reported is handled."""


class Attribution(Protocol):
    """The changes of one command, from before its start to after its end."""

    partial: str

    def tracer(self, guard: AttributeGuard | None = None) -> Tracer:
        """For one more process of this command, whose changes of attributes go through the guard."""

    def other_write(self, path: str) -> bool:
        """Another tool is about to write this file; false if the command has it open for writing."""

    def record_write(self, path: str, content: bytes | None) -> None: ...

    def changes(self) -> list[ScannedFile]: ...


class CommandTrace:
    """The attribution of Linux: a seccomp listener for each process that is started."""

    partial = ""

    def __init__(self, root: WorkspaceRoot, repository: Repository, log: Path) -> None:
        from tools.local.attribution.listener import Listener
        from tools.local.attribution.touched import TouchedFiles
        from tools.local.walk import Exclusions

        self._root = root
        self._versions = VersionLog(log)
        self._touched = TouchedFiles(root, self._versions, Exclusions(root, repository).name)
        self._make = Listener
        self._listeners: list[Tracer] = []
        self._finalizer = finalize(self, self._versions.close)

    @classmethod
    def restored(cls, root: WorkspaceRoot, repository: Repository, log: Path) -> "CommandTrace | None":
        """The trace of a command whose sidecar was killed; `None` if it can't be read."""
        trace = cls(root, repository, log)
        try:
            trace._touched.restore()
        except FileNotFoundError:
            pass  # it had changed nothing
        except (OSError, ValueError, KeyError):
            return None
        return trace

    def tracer(self, guard: AttributeGuard | None = None) -> Tracer:
        handle = self._root.open(".", os.O_RDONLY | os.O_DIRECTORY)
        listener = self._make(self._touched, self._versions, self._root.path, handle, guard)
        self._listeners.append(listener)
        return listener

    def other_write(self, path: str) -> bool:
        with self._touched.lock:
            return self._touched.other_write(text_to_name(path))

    def record_write(self, path: str, content: bytes | None) -> None:
        """Nothing to do: what no process of the command wrote doesn't count for it."""

    def stop(self) -> "list[Future[None]]":
        """After the last process has ended: what still has to be waited for."""
        return [ended for listener in self._listeners if not (ended := listener.stop()).done()]

    @property
    def is_empty(self) -> bool:
        """Whether no file has to be looked at; call it after everything has stopped."""
        return self._touched.is_empty

    @property
    def has_log(self) -> bool:
        return self._versions.exists

    def changes(self) -> list[ScannedFile]:
        """Call it after the last process has ended."""
        wait(self.stop())
        with self._touched.lock:
            return self._touched.changes()

    def dump(self) -> bytes:
        return json.dumps({"trace": self._versions.path.name}).encode()

    def forget(self) -> None:
        """Its changes are recorded."""
        self._versions.remove()


def dumped_name(data: bytes) -> str | None:
    """The log that a dumped trace names; `None` if it is no trace."""
    try:
        found = json.loads(data)["trace"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) and "/" not in found else None


@cache
def attribution_problem() -> str:
    """Why this machine can't tell who changed a file; empty if it can. Tries it once."""
    if sys.platform != "linux":
        return _OTHER_SYSTEM
    with scratch_directory("probe") as place:
        root = WorkspaceRoot(place)
        try:
            trace = CommandTrace(root, Repository(root), Path(place) / ".git" / "log")
            wrote = _in_thread(trace.tracer(), lambda: Path(place, "probe").write_bytes(b""))
            found = [name_to_text(change.path) for change in trace.changes()]
            trace.forget()
        except OSError as error:
            return str(error)
        finally:
            root.close()
    if found != ["probe"] or not wrote:
        return "the kernel does not report the changes of a command's own processes"
    return ""


async def find_attribution_problem() -> str:
    """Like `attribution_problem`, without blocking the event loop the first time."""
    known = attribution_problem.cache_info().currsize
    return attribution_problem() if known else await asyncio.to_thread(attribution_problem)


def _in_thread(tracer: Tracer, act: Callable[[], object]) -> bool:
    done: list[bool] = []

    def run() -> None:
        tracer.install()
        act()
        done.append(True)

    thread = threading.Thread(target=run, name="attribution-probe", daemon=True)
    thread.start()
    thread.join(5)
    return bool(done)
