"""
EngineError
├── OperationRefused   an operation doesn't fit the task as it is; `code` is stable, `status` an HTTP status
├── AgentError         an agent couldn't do its part; the pipeline retries its step, or fails it
├── StepFailed         a step failed for good; `code` and `recoverable` go to the task as they are
└── Escalated          the work doesn't pass its checks, and the task needs you; all work is kept
"""

import errno
import os
import sqlite3
from collections.abc import Sequence

from sidecar.engine.steps import StepKey

#: A failure that passes by itself, when other connections and files are closed.
NO_HANDLES = "No file handles are left (`ulimit -n`)"
#: Its file, its log, and the index of that.
_FOR_ONE_DATABASE = 3


def lacks_handles(error: object) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        # SQLite doesn't say why it can't open a file.
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN and _can_open_none()
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def _can_open_none() -> bool:
    """Whether there are fewer handles than SQLite opens for one file."""
    taken: list[int] = []
    try:
        for _ in range(_FOR_ONE_DATABASE):
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return True
    finally:
        for handle in taken:
            os.close(handle)
    return False


class EngineError(Exception):
    pass


class OperationRefused(EngineError):
    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after


class AgentError(EngineError):
    def __init__(self, code: str, message: str, *, recoverable: bool = True, retry: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable
        #: Whether the same step may succeed if it is tried again.
        self.retry = retry


class StepFailed(EngineError):
    def __init__(self, code: str, message: str, *, recoverable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable


class Escalated(EngineError):
    """`key` stays the same for good, so a task resumed after it gets new attempts."""

    def __init__(self, key: StepKey, reason: str, *, attempts: int, suggestions: Sequence[str]) -> None:
        super().__init__(reason)
        self.key = key
        self.reason = reason
        self.attempts = attempts
        self.suggestions = list(suggestions)
