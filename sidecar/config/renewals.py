"""What lets a panel in again after the sidecar was started anew, with a new token.

A renewal is a secret that a panel was given with its token. Only hashes are kept, in a private file of the data
directory, each for a limited time.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from sidecar.config.data_dir import DataDir

KEEP_SECONDS = 7 * 24 * 3600.0
MOST = 100


class Renewals:
    def __init__(self, data: DataDir, clock: Callable[[], float] = time.time) -> None:
        self._data = data
        self._clock = clock
        self._valid_until = _read(data.renewals_file)

    def new(self) -> str:
        renewal = secrets.token_urlsafe(32)
        self._valid_until[_digest(renewal)] = self._clock() + KEEP_SECONDS
        self._write()
        return renewal

    def known(self, renewal: str) -> bool:
        """Whether it was given out and is still good; if so it is good for as long again."""
        digest = _digest(renewal)
        if self._valid_until.get(digest, 0.0) < self._clock():
            return False
        self._valid_until[digest] = self._clock() + KEEP_SECONDS
        self._write()
        return True

    def _write(self) -> None:
        newest = sorted(self._valid_until.items(), key=lambda item: item[1], reverse=True)[:MOST]
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
