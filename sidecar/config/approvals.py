"""Approvals that hold for a workspace. Each is bound to exactly the call you saw, and you can revoke it.

They are in a private file of the data directory, where no workspace can read or write them.
"""

import json
import os
import secrets
import time
from pathlib import Path
from typing import NamedTuple

from sidecar.config.data_dir import DataDir
from sidecar.config.stored import StoredValue

_MOST = 1_000


class StandingApproval(NamedTuple):
    id: str
    workspace: str
    binding: str
    action: str
    argv: list[str] | None
    cwd: str | None
    at: float


class StandingApprovals:
    def __init__(self, data: DataDir) -> None:
        self._file = data.path / "approvals.json"
        self._stored = StoredValue(self._file, _read)
        if not self._file.exists() and (earlier := _read(data.path / "grants.json")):
            self._save(earlier)  # earlier builds kept them there

    @property
    def _approvals(self) -> list[StandingApproval]:
        return self._stored.get()

    def allows(self, workspace: str, binding: str) -> bool:
        real = os.path.realpath(workspace)
        return any(approval.binding == binding and approval.workspace == real for approval in self._approvals)

    def add(self, workspace: str, binding: str, action: str, argv: list[str] | None, cwd: str | None) -> None:
        if binding and not self.allows(workspace, binding):
            real = os.path.realpath(workspace)
            approval = StandingApproval(f"a_{secrets.token_hex(6)}", real, binding, action, argv, cwd, time.time())
            self._save([*self._approvals, approval][-_MOST:])

    def all(self) -> list[StandingApproval]:
        return list(self._approvals)

    def revoke(self, approval_id: str) -> bool:
        left = [approval for approval in self._approvals if approval.id != approval_id]
        found = len(left) < len(self._approvals)
        if found:
            self._save(left)
        return found

    def _save(self, approvals: list[StandingApproval]) -> None:
        self._stored.set(approvals, json.dumps([approval._asdict() for approval in approvals]))


def _read(file: Path) -> list[StandingApproval]:
    """An unreadable file approves nothing."""
    try:
        return [StandingApproval(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
