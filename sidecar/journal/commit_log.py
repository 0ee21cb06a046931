"""A log of commits beside the SQLite file, to notice commits that SQLite silently drops.

After a kill SQLite reads its write-ahead log up to the first damaged frame and ignores the rest. This log says how far
each task got. It is appended after each commit and cleared once the main file holds everything.
"""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic_core import to_json

#: Copy the write-ahead log into the main file and start again beyond this size.
MAX_BYTES = 1024 * 1024


class TaskEnd(NamedTuple):
    """The newest event of a task, and its status then."""

    seq: int
    status: str


class LoggedCommits(NamedTuple):
    number: int
    tasks: Mapping[str, TaskEnd]


def log_path(journal: Path) -> Path:
    return Path(f"{journal}-commits")


def read_log(journal: Path) -> LoggedCommits:
    """The newest commit and the end of each task; a damaged line hides only itself."""
    number, tasks = 0, dict[str, TaskEnd]()
    try:
        lines = log_path(journal).read_bytes().split(b"\n")
    except OSError:
        return LoggedCommits(0, tasks)
    for line in lines:
        checksum, _, body = line.partition(b" ")
        if checksum != _checksum(body):
            continue
        number, changed = json.loads(body)
        for task_id, end in changed.items():
            if end is None:
                tasks.pop(task_id, None)
            else:
                tasks[task_id] = TaskEnd(*end)
    return LoggedCommits(number, tasks)


class CommitLog:
    """Used only by the writer's thread."""

    def __init__(self, journal: Path) -> None:
        path = log_path(journal)
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._handle).st_size

    @property
    def full(self) -> bool:
        return self._size > MAX_BYTES

    def append(self, number: int, changed: Mapping[str, TaskEnd | None]) -> None:
        body = to_json([number, changed])
        # One write: a kill leaves a whole line or none.
        self._size += os.write(self._handle, _checksum(body) + b" " + body + b"\n")

    def clear(self) -> None:
        os.ftruncate(self._handle, 0)
        self._size = 0

    def close(self) -> None:
        os.close(self._handle)


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
