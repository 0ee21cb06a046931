"""Standing permissions for a workspace. Each is bound to exactly what you approved, and you can revoke it.

They are in a private file of the data directory, where no workspace can read or write them.
"""

import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from sidecar.config.data_dir import DataDir
from sidecar.config.paths import write_private

_MAX_GRANTS = 1_000


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
        self._clock = clock
        self._file = data.path / "grants.json"
        self._grants = _read(self._file)

    def allows(self, workspace: str, binding: str) -> bool:
        real = os.path.realpath(workspace)
        return any(grant.binding == binding and grant.workspace == real for grant in self._grants)

    def add(self, workspace: str, binding: str, action: str, argv: list[str] | None, cwd: str | None) -> None:
        if binding and not self.allows(workspace, binding):
            real = os.path.realpath(workspace)
            grant = Grant(f"g_{secrets.token_hex(6)}", real, binding, action, argv, cwd, self._clock())
            self._save([*self._grants, grant][-_MAX_GRANTS:])

    def all(self) -> list[Grant]:
        return list(self._grants)

    def revoke(self, grant_id: str) -> bool:
        left = [grant for grant in self._grants if grant.id != grant_id]
        found = len(left) < len(self._grants)
        if found:
            self._save(left)
        return found

    def _save(self, grants: list[Grant]) -> None:
        self._grants = grants
        write_private(self._file, json.dumps([asdict(grant) for grant in grants]))


def _read(file: Path) -> list[Grant]:
    """An unreadable file grants nothing."""
    try:
        return [Grant(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
