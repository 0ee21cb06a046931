"""What the person has allowed for a whole workspace: each bound to exactly what was approved, listed, revocable.

Kept in a private file of the data directory; a workspace can neither read nor write it.
"""

import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from sidecar.config.data_dir import DataDir

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Grant:
    id: str
    workspace: str
    binding: str
    action: str
    argv: list[str] | None
    cwd: str | None
    at: float


class Grants:
    def __init__(self, data: DataDir, clock: Callable[[], float] = time.time) -> None:
        self._data = data
        self._clock = clock
        self._file = data.path / "grants.json"
        self._grants = _read(self._file)

    def allows(self, workspace: str, binding: str) -> bool:
        place = os.path.realpath(workspace)
        return any(grant.binding == binding and grant.workspace == place for grant in self._grants)

    def add(self, workspace: str, binding: str, action: str, argv: list[str] | None, cwd: str | None) -> None:
        if binding and not self.allows(workspace, binding):
            place = os.path.realpath(workspace)
            grant = Grant(f"g_{secrets.token_hex(6)}", place, binding, action, argv, cwd, self._clock())
            self._grants = [*self._grants, grant][-MOST:]
            self._write()

    def all(self) -> list[Grant]:
        return list(self._grants)

    def revoke(self, grant_id: str) -> bool:
        left = [grant for grant in self._grants if grant.id != grant_id]
        found = len(left) < len(self._grants)
        if found:
            self._grants = left
            self._write()
        return found

    def _write(self) -> None:
        self._data.write_private(self._file, json.dumps([asdict(grant) for grant in self._grants]))


def _read(file: Path) -> list[Grant]:
    """What cannot be read allows nothing."""
    try:
        return [Grant(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
