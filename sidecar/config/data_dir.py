"""The data directory: private to the person, used by one sidecar at a time."""

import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.config.paths import READY_FILE, TOKEN_FILE
from sidecar.wire.system import Ready

KEEP_SECONDS = 7 * 24 * 3600.0
_MAX_REFRESH_TOKENS = 100
_MAX_SHELLS = 1_000


class AlreadyRunning(Exception):
    def __init__(self, path: Path, running: Ready | None) -> None:
        where = f" at {running.url} (process {running.pid})" if running else ""
        super().__init__(
            f"A sidecar is already running{where} on the data directory {path}. Use it (`brain run` and `brain open` "
            "find it by themselves), stop it, or name another directory with --data-dir."
        )


class DataDir:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal.db"
        self.token_file = path / TOKEN_FILE
        self._ready_file = path / READY_FILE
        self._lock_file = path / "lock"
        self.renewals_file = path / "renewals.json"
        self._lock: int | None = None

    def prepare(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sys.platform != "win32":
            self.path.chmod(0o700)
        # Private by itself too, whatever the umask. What else may stand there is the journal's own affair.
        with suppress(OSError):
            handle = os.open(self.journal, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                if sys.platform != "win32":
                    os.fchmod(handle, 0o600)
            finally:
                os.close(handle)

    def lock(self) -> None:
        """Held until the process ends, however it ends: the system lets go of it, so it is never stale."""
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _lock_exclusively(descriptor)
        except OSError:
            os.close(descriptor)
            raise AlreadyRunning(self.path, self.running()) from None
        self._lock = descriptor
        with suppress(FileNotFoundError):
            self._ready_file.unlink()

    def new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self.write_private(self.token_file, token)
        return token

    def announce(self, ready: Ready) -> None:
        self.write_private(self._ready_file, ready.to_json())

    def withdraw(self) -> None:
        for file in (self._ready_file, self.token_file):
            with suppress(FileNotFoundError):
                file.unlink()

    def running(self) -> Ready | None:
        """What the sidecar of this directory said when it was ready; it may have died since."""
        try:
            return Ready.model_validate(json.loads(self._ready_file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def token(self) -> str:
        return self.token_file.read_text(encoding="utf-8").strip()

    def write_private(self, file: Path, text: str) -> None:
        # A new file under a name that nobody can have planted, private from its first moment, then put in place.
        temporary = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        temporary.replace(file)


class ShellDirectory:
    """Held until the process ends, however it ends: the system lets go of the lock, so it is never stale."""

    def __init__(self, parent: Path) -> None:
        for number in range(_MAX_SHELLS):
            self.path = parent / "shells" / str(number)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                _lock_exclusively(self._lock)
            except OSError:
                os.close(self._lock)
            else:
                return
        raise OSError(f"{_MAX_SHELLS} shells run with {parent} already")

    def release(self) -> None:
        os.close(self._lock)


class RefreshTokens:
    def __init__(self, data: DataDir, clock: Callable[[], float] = time.time) -> None:
        self._data = data
        self._clock = clock
        self._valid_until = _read(data.renewals_file)

    def issue(self) -> str:
        renewal = secrets.token_urlsafe(32)
        self._valid_until[_digest(renewal)] = self._clock() + KEEP_SECONDS
        self._write()
        return renewal

    def accept(self, renewal: str) -> bool:
        """Whether it was given out and is still good; if so it is good for as long again."""
        digest = _digest(renewal)
        if self._valid_until.get(digest, 0.0) < self._clock():
            return False
        self._valid_until[digest] = self._clock() + KEEP_SECONDS
        self._write()
        return True

    def _write(self) -> None:
        newest = sorted(self._valid_until.items(), key=lambda item: item[1], reverse=True)[:_MAX_REFRESH_TOKENS]
        self._valid_until = {digest: until for digest, until in newest if until > self._clock()}
        self._data.write_private(self._data.renewals_file, json.dumps(self._valid_until))


def _digest(renewal: str) -> str:
    return hashlib.sha256(renewal.encode("utf-8", "replace")).hexdigest()


def _read(file: Path) -> dict[str, float]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(digest): float(until) for digest, until in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


if sys.platform == "win32":

    def _lock_exclusively(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock_exclusively(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
