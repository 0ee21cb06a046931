"""A file of the data directory that several processes use: read again whenever one of them wrote it."""

# Every tool call asks, and building a Path would cost more than the system call.
# ruff: noqa: PTH116

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from sidecar.config.paths import write_private

T = TypeVar("T")


class StoredValue(Generic[T]):
    """`parse` reads the file; it must not raise."""

    def __init__(self, file: Path, parse: Callable[[Path], T]) -> None:
        self._file = file
        self._name = os.fspath(file)
        self._parse = parse
        self._stamp: tuple[int, int, int] | None = None
        self._value = parse(file)
        self._stamp = self._present_stamp()

    def get(self) -> T:
        stamp = self._present_stamp()
        if stamp != self._stamp:
            # The stamp comes first: a write in between is read the next time.
            self._stamp = stamp
            self._value = self._parse(self._file)
        return self._value

    def set(self, value: T, text: str) -> None:
        write_private(self._file, text)
        self._value, self._stamp = value, self._present_stamp()

    def _present_stamp(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._name)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size
