"""Standing permissions of a repository, for unattended tasks. You give them by name and can revoke them.

Unlike an approval, a grant isn't bound to one exact call: it names a command, a host, a path, installs, checks, or an
amount of money. Starting a task never creates one. They are in a private file of the data directory.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, get_args

from sidecar.config.repositories import Repositories, normalize_repository
from sidecar.config.stored import StoredValue
from sidecar.wire.base import GrantKind

_MOST = 1_000


class Grant(NamedTuple):
    """`until` and `at` are Unix times."""

    id: str
    workspace: str
    kind: GrantKind
    value: str | None
    at: float
    until: float | None = None


class Permissions(NamedTuple):
    """What a repository's grants permit now."""

    commands: frozenset[str] = frozenset()
    #: Package managers; `None` means every known one.
    installs: frozenset[str | None] = frozenset()
    #: Test and build commands; `None` means every known one.
    checks: frozenset[str | None] = frozenset()
    #: Hosts that its commands may reach.
    hosts: tuple[str, ...] = ()
    #: Paths outside the workspace that its commands may read.
    reads: tuple[str, ...] = ()
    #: Most dollars that one task may spend.
    spend: float | None = None


class Grants:
    def __init__(
        self, data_dir: Path, repositories: Repositories | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._repositories = repositories or Repositories(data_dir)
        self._stored = StoredValue(data_dir / "grants.json", _read)

    @property
    def _grants(self) -> list[Grant]:
        return self._stored.get()

    def add(self, workspace: str, kind: GrantKind, value: str | None, until: float | None = None) -> Grant:
        """Granting the same again changes its expiry; a new limit replaces the old one."""
        place = normalize_repository(workspace)
        grant = Grant(f"g_{secrets.token_hex(6)}", place, kind, value, self._clock(), until)
        others = []
        for each in self._current():
            same = (each.workspace, each.kind) == (place, kind) and (kind == "spend" or each.value == value)
            if same:
                grant = grant._replace(id=each.id)
            else:
                others.append(each)
        self._save([*others, grant][-_MOST:])
        return grant

    def all(self) -> list[Grant]:
        return list(self._current())

    def revoke(self, grant_id: str) -> bool:
        left = [grant for grant in self._grants if grant.id != grant_id]
        found = len(left) < len(self._grants)
        if found:
            self._save(left)
        return found

    def permissions(self, workspace: str) -> Permissions:
        if not self._grants:
            return Permissions()
        names = self._repositories.covering(workspace)
        found: dict[GrantKind, list[str | None]] = {kind: [] for kind in get_args(GrantKind)}
        for grant in self._current():
            if grant.workspace in names:
                found[grant.kind].append(grant.value)
        return Permissions(
            frozenset(value for value in found["command"] if value),
            frozenset(found["install"]),
            frozenset(found["checks"]),
            tuple(value for value in found["host"] if value),
            tuple(value for value in found["read"] if value),
            min((float(value) for value in found["spend"] if value), default=None),
        )

    def _current(self) -> Iterator[Grant]:
        now = self._clock()
        return (grant for grant in self._grants if grant.until is None or grant.until > now)

    def _save(self, grants: list[Grant]) -> None:
        self._stored.set(grants, json.dumps({"grants": [grant._asdict() for grant in grants]}))


def _read(file: Path) -> list[Grant]:
    """An unreadable file grants nothing."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["grants"]
        return [grant for grant in (Grant(**entry) for entry in entries) if grant.kind in get_args(GrantKind)]
    except (OSError, ValueError, TypeError, KeyError):
        return []
