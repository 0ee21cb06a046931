"""Hears of changes in a workspace, so that what they made stale does not take up room until it is asked for.

Nothing depends on it: every hit is checked against the disk anyway. So it may be late, lose events, or not be there.
"""

import os
import threading
import warnings
from collections import deque
from contextlib import suppress
from typing import Any

#: Each directory costs the kernel a watch and us a look; a larger workspace does without.
_DIRECTORIES = 5_000
_WORKSPACES = 16
_PENDING = 10_000


class Watcher:
    """Runs in a thread of its own; what it heard waits in `changes` until somebody takes it."""

    def __init__(self, delay: float = 1.0) -> None:
        #: The first seconds of a task belong to the task.
        self._delay = delay
        self._pending: deque[str] = deque()
        self._overflowed = False
        self._workspaces: set[str] = set()
        self._observer: Any = None
        self._starting: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def watch(self, workspace: str) -> None:
        """Returns at once. The library and the walk over the directories cost time that nobody waits for."""
        if workspace in self._workspaces or len(self._workspaces) >= _WORKSPACES:
            return
        self._workspaces.add(workspace)
        thread = threading.Thread(target=self._start, args=(workspace,), name="cache-watcher", daemon=True)
        self._starting.append(thread)
        thread.start()

    def taken(self) -> tuple[list[str], bool]:
        """The paths that changed since the last time, and whether more changed than could be kept."""
        paths: list[str] = []
        while self._pending:
            paths.append(self._pending.popleft())
        overflowed, self._overflowed = self._overflowed, False
        return paths, overflowed

    def heard(self, path: str) -> None:
        if len(self._pending) >= _PENDING:
            self._overflowed = True
        else:
            self._pending.append(path)

    def started(self, timeout: float = 5.0) -> bool:
        """Waits until the watches stand; for those who must know that a change will be heard."""
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
        from watchdog import events
        from watchdog.observers import Observer

        watcher = self

        class Handler(events.FileSystemEventHandler):
            def on_any_event(self, event: events.FileSystemEvent) -> None:
                for path in (event.src_path, event.dest_path):
                    if path:
                        name = os.fsdecode(path)
                        watcher.heard(name)
                        watcher.heard(name.rpartition("/")[0])

        # A directory that is made while the watches are being set is found twice; the library warns, and goes on.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        # A kernel that has no watches left is no reason to fail.
        with self._lock, suppress(OSError):
            if self._closed.is_set():
                return
            if self._observer is None:
                observer = Observer()
                observer.start()
                self._observer = observer
            # Else every read of ours would wake its threads, only to tell us that we have read.
            changes = [
                *(events.FileCreatedEvent, events.FileModifiedEvent, events.FileMovedEvent, events.FileDeletedEvent),
                *(events.DirCreatedEvent, events.DirModifiedEvent, events.DirMovedEvent, events.DirDeletedEvent),
            ]
            self._observer.schedule(Handler(), workspace, recursive=True, event_filter=changes)


def _small(workspace: str) -> bool:
    count = 0
    for _, directories, _ in os.walk(workspace):
        count += len(directories)
        if count > _DIRECTORIES:
            return False
    return True
