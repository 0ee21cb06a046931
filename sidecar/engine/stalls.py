"""Which tasks froze the sidecar: a task that did so twice is not resumed by itself.

While tasks run, the event loop postpones an alarm every second. If the loop hangs, the alarm goes off in a thread of
the interpreter that needs no Python code, and adds the stacks to a file that names the running tasks. A loop that goes
on wipes the file; a process that is killed leaves it to the next start.
"""

import asyncio
import faulthandler
import json
import logging
import os
from contextlib import suppress
from pathlib import Path

from sidecar.config.paths import write_private

log = logging.getLogger(__name__)

STALL_SECONDS = 10.0
MAX_FREEZES = 2
_BEAT_SECONDS = 1.0
_MAX_TASKS = 1_000
_MAX_READ = 1 << 20
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


class Stalls:
    """`seconds` is how long the loop may hang. Reads what the previous process left."""

    def __init__(self, directory: Path, seconds: float = STALL_SECONDS) -> None:
        self._seconds = seconds
        self._counts_file = directory / "stalls.json"
        self._counts: dict[str, int] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError):
            found = json.loads(self._counts_file.read_text(encoding="utf-8"))
            self._counts = {str(task_id): int(count) for task_id, count in found.items()}
        self._file = os.open(directory / "watchdog", _FLAGS, 0o600)
        self._running: list[str] = []
        self._written = 0
        self._beat: asyncio.TimerHandle | None = None
        self._read_last_life()

    def _read_last_life(self) -> None:
        tasks, _, stacks = os.pread(self._file, _MAX_READ, 0).decode("utf-8", "replace").partition("\n")
        if stacks:
            log.error("The sidecar hung while these tasks ran, until it was killed: %s\n%s", tasks, stacks)
            for task_id in tasks.split():
                self._count(task_id, self._counts.get(task_id, 0) + 1)
        self._write()

    def close(self) -> None:
        self._running.clear()
        self._rest()
        os.close(self._file)

    def begin(self, task_id: str) -> None:
        self._running.append(task_id)
        self._write()
        if self._beat is None:
            self._postpone()

    def end(self, task_id: str) -> None:
        """Alarm and file stay until the next beat: the next task may begin at once, and both cost more than it."""
        with suppress(ValueError):
            self._running.remove(task_id)

    def holds(self, task_id: str) -> bool:
        """Whether the task froze the sidecar too often to be resumed by itself."""
        return self._counts.get(task_id, 0) >= MAX_FREEZES

    def release(self, task_id: str) -> None:
        """You resumed the task; the next freeze holds it again."""
        if self.holds(task_id):
            self._count(task_id, MAX_FREEZES - 1)

    def _postpone(self) -> None:
        if not self._running:
            self._rest()
            self._write()
            return
        faulthandler.cancel_dump_traceback_later()
        if os.fstat(self._file).st_size != self._written:
            log.warning("The sidecar hung for more than %g seconds.", self._seconds)
            self._write()
        faulthandler.dump_traceback_later(self._seconds, file=self._file)
        self._beat = asyncio.get_running_loop().call_later(min(_BEAT_SECONDS, self._seconds / 4), self._postpone)

    def _rest(self) -> None:
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None
            faulthandler.cancel_dump_traceback_later()

    def _write(self) -> None:
        content = f"{' '.join(self._running)}\n".encode() if self._running or self._beat is not None else b""
        os.ftruncate(self._file, 0)
        os.write(self._file, content)
        self._written = len(content)

    def _count(self, task_id: str, count: int) -> None:
        self._counts.pop(task_id, None)
        self._counts[task_id] = count
        self._counts = dict(list(self._counts.items())[-_MAX_TASKS:])
        write_private(self._counts_file, json.dumps(self._counts))
