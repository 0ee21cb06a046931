"""The data directory: private to the user, used by one sidecar at a time."""

import json
import logging
import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path

from sidecar.config.errors import EXIT_ALREADY_RUNNING, UserError
from sidecar.config.paths import READY_FILE, TOKEN_FILE, closed_after, free_bytes, write_private
from sidecar.wire.health import Ready
from sidecar.wire.session import Renewal

log = logging.getLogger(__name__)

_RENEWAL_SECONDS = 7 * 24 * 3600.0
_MAX_RENEWALS = 100
_MAX_PROCESSES = 1_000
#: Room for a start on a full disk: the token, the address, and what SQLite needs to read the journal.
_RESERVE_BYTES = 256 * 1024
#: A smaller disk has no room to spare.
_LEAST_FOR_RESERVE = 4 * 1024 * 1024
_ORPHAN_SECONDS, _ORPHAN_PAUSE = 1.0, 0.02
_OPEN_OR_CREATE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


class AlreadyRunning(UserError):
    exit_code = EXIT_ALREADY_RUNNING

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
        self._reserve = path / "reserve"
        self._lock: int | None = None

    def prepare(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sys.platform != "win32":
            self.path.chmod(0o700)
        # The journal is private whatever the umask is. The journal itself reports anything else in its place.
        with suppress(OSError), closed_after(os.open(self.journal, _OPEN_OR_CREATE, 0o600)) as handle:
            if sys.platform != "win32":
                os.fchmod(handle, 0o600)

    def lock(self) -> None:
        """The system releases the lock when the process ends, so it is never stale.

        A process that a killed sidecar was just starting may hold it for a moment.
        """
        deadline = time.monotonic() + _ORPHAN_SECONDS
        while (lock := _try_lock(self.path / "lock")) is None:
            running = self.running()
            if _is_alive(running) or time.monotonic() > deadline:
                raise AlreadyRunning(self.path, running)
            time.sleep(_ORPHAN_PAUSE)
        self._lock = lock
        with suppress(FileNotFoundError):
            self._ready_file.unlink()

    def use_reserve(self) -> bool:
        """If the disk is full, free the room that an earlier start set aside; whether that was needed."""
        full = free_bytes(self.path) < _RESERVE_BYTES and self._reserved_bytes() > 0
        if full:
            self._reserve.unlink()
        return full

    def keep_reserve(self) -> None:
        """Set room aside for a start on a full disk."""
        with suppress(OSError):
            if self._reserved_bytes() >= _RESERVE_BYTES or free_bytes(self.path) < _LEAST_FOR_RESERVE:
                return
            # Not zeros, which some file systems don't store.
            write_private(self._reserve, secrets.token_hex(_RESERVE_BYTES // 2))

    def _reserved_bytes(self) -> int:
        try:
            return self._reserve.stat().st_size
        except OSError:
            return 0

    def new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        write_private(self.token_file, token)
        return token

    def announce(self, ready: Ready) -> None:
        write_private(self._ready_file, ready.to_json())

    def withdraw(self) -> None:
        for file in (self._ready_file, self.token_file):
            with suppress(FileNotFoundError):
                file.unlink()

    def running(self) -> Ready | None:
        """The sidecar that announced itself here; it may have died since."""
        try:
            return Ready.model_validate(json.loads(self._ready_file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def token(self) -> str:
        return self.token_file.read_text(encoding="utf-8").strip()


class LockedDirectory:
    """The first directory of its kind that no other running process holds."""

    def __init__(self, parent: Path, kind: str) -> None:
        for number in range(_MAX_PROCESSES):
            self.path = parent / kind / str(number)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _try_lock(self.path / "lock")
            if lock is not None:
                self._lock = lock
                return
        raise OSError(f"{_MAX_PROCESSES} {kind} already run with {parent}")

    def release(self) -> None:
        os.close(self._lock)


class ShellDirectory(LockedDirectory):
    """For a shell's commands and their output, and to find what a killed shell left."""

    def __init__(self, parent: Path) -> None:
        super().__init__(parent, "shells")


class RenewalKeys:
    """Keys with which a panel gets back in after a restart, which makes a new token."""

    def __init__(self, data: DataDir) -> None:
        self._file = data.path / "renewals.json"
        self._keys: dict[str, tuple[str, float]] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
            found = json.loads(self._file.read_text(encoding="utf-8"))
            self._keys = {str(name): (str(entry["key"]), float(entry["until"])) for name, entry in found.items()}

    def issue(self) -> Renewal:
        renewal = Renewal(id=secrets.token_urlsafe(24), key=secrets.token_urlsafe(32))
        self._store(renewal.id, renewal.key)
        return renewal

    def find(self, key_id: str) -> str | None:
        key, until = self._keys.get(key_id, (None, 0.0))
        return key if until >= time.time() else None

    def extend(self, key_id: str) -> None:
        key = self.find(key_id)
        if key is not None:
            self._store(key_id, key)

    def _store(self, key_id: str, key: str) -> None:
        now = time.time()
        self._keys[key_id] = (key, now + _RENEWAL_SECONDS)
        newest = sorted(self._keys.items(), key=lambda item: item[1][1], reverse=True)[:_MAX_RENEWALS]
        self._keys = {name: entry for name, entry in newest if entry[1] > now}
        kept = {name: {"key": key, "until": until} for name, (key, until) in self._keys.items()}
        try:
            write_private(self._file, json.dumps(kept))
        except OSError as error:
            log.warning("Panels that are open now have to sign in again after a restart: %s", error)


def _is_alive(running: Ready | None) -> bool:
    if running is None or sys.platform == "win32":
        return running is not None
    try:
        os.kill(running.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's
    return True


def _try_lock(file: Path) -> int | None:
    descriptor = os.open(file, _OPEN_OR_CREATE, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
