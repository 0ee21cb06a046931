"""Watches workspaces, to evict stale values early.

Nothing depends on it: every hit is checked against the disk. It may be late, lose events, or be missing.
"""

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

#: Each directory costs the kernel a watch and us a look; a larger workspace does without.
_DIRECTORIES = 5_000
_WORKSPACES = 16
_PENDING = 10_000


class Watcher:
    """Runs in its own thread; `drain` takes the changed paths."""

    def __init__(self, delay: float = 1.0) -> None:
        #: Leave the first seconds of a task to the task.
        self._delay = delay
        self._pending: deque[str] = deque()
        self._overflowed = False
        self._workspaces: set[str] = set()
        self._subscribers: dict[str, list[Callable[[str], None]]] = {}
        #: The workspaces whose watches are set.
        self._ready: set[str] = set()
        self._observer: Any = None
        self._starting: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def watch(self, workspace: str) -> None:
        """Return at once; a thread loads the library and walks the directories."""
        if workspace in self._workspaces or len(self._workspaces) >= _WORKSPACES:
            return
        self._workspaces.add(workspace)
        thread = threading.Thread(target=self._start, args=(workspace,), name="cache-watcher", daemon=True)
        self._starting.append(thread)
        thread.start()

    def subscribe(self, workspace: str, changed: Callable[[str], None]) -> Callable[[], bool]:
        """Watch a workspace and report its changed paths; the result says whether the watches are set."""
        self._subscribers.setdefault(workspace, []).append(changed)
        self.watch(workspace)
        return lambda: workspace in self._ready

    def drain(self) -> tuple[list[str], bool]:
        """The paths that changed since the last call, and whether some were dropped."""
        paths: list[str] = []
        while self._pending:
            paths.append(self._pending.popleft())
        overflowed, self._overflowed = self._overflowed, False
        return paths, overflowed

    def report(self, path: str) -> None:
        for workspace, subscribers in self._subscribers.items():
            if path.startswith(f"{workspace}/"):
                for changed in subscribers:
                    changed(path)
        if len(self._pending) >= _PENDING:
            self._overflowed = True
        else:
            self._pending.append(path)

    def started(self, timeout: float = 5.0) -> bool:
        """Wait until the watches are set."""
        for thread in self._starting:
            thread.join(timeout)
        return self._observer is not None

    def close(self) -> None:
        self._closed.set()
        self.started()
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(5.0)
            self._observer = None
        self._workspaces.clear()

    def _start(self, workspace: str) -> None:
        if self._closed.wait(self._delay) or not _small(workspace):
            return
        try:
            self._observe(workspace)
        except OSError:
            # No watches or file handles are left, not even to load the library: the next task tries again.
            self._workspaces.discard(workspace)

    def _observe(self, workspace: str) -> None:
        from watchdog import events
        from watchdog.observers import Observer

        watcher = self

        class Handler(events.FileSystemEventHandler):
            def on_any_event(self, event: events.FileSystemEvent) -> None:
                for path in (event.src_path, event.dest_path):
                    if path:
                        name = os.fsdecode(path)
                        watcher.report(name)
                        watcher.report(name.rpartition("/")[0])

        # A directory that is made while the watches are being set is found twice; the library warns, and goes on.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        with self._lock:
            if self._closed.is_set():
                return
            if self._observer is None:
                observer = Observer()
                observer.start()
                self._observer = observer
            # Otherwise our own reads would wake its threads.
            changes = [
                *(events.FileCreatedEvent, events.FileModifiedEvent, events.FileMovedEvent, events.FileDeletedEvent),
                *(events.DirCreatedEvent, events.DirModifiedEvent, events.DirMovedEvent, events.DirDeletedEvent),
            ]
            self._observer.schedule(Handler(), workspace, recursive=True, event_filter=changes)
            self._ready.add(workspace)


def _small(workspace: str) -> bool:
    count = 0
    for _, directories, _ in os.walk(workspace):
        count += len(directories)
        if count > _DIRECTORIES:
            return False
    return True
