"""One command and what holds it: the sandbox, if this machine has one, and how much it may use up."""

import os
import shutil
from collections.abc import Mapping, Sequence

from tools.local.limits import Limits
from tools.local.sandbox.port import Room, Sandbox, Start


class Cage:
    """`readonly` are the protected files of the workspace that are there."""

    def __init__(
        self, sandbox: Sandbox | None, room: Room, limits: Limits | None, readonly: Sequence[str] = ()
    ) -> None:
        self.limits = limits
        self.watched = sandbox is not None and sandbox.watched
        self._sandbox = sandbox
        self._room = room
        self._readonly = readonly

    def around(self, argv: Sequence[str], cwd: str, environment: Mapping[str, str], seconds: float | None) -> Start:
        """Raises `OSError` for a program that cannot be started, which is said best before anything is around it."""
        if self._sandbox is None and self.limits is None:
            return Start(argv, environment)
        _startable(argv, cwd, environment)
        limited = argv if self.limits is None else self.limits.around(argv, seconds)
        if self._sandbox is None:
            return Start(limited, environment)
        readonly = () if self._room.approved else self._readonly
        return self._sandbox.around(limited, self._room, cwd, environment, readonly)


def _startable(argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> None:
    if any("\0" in word for word in argv):
        raise ValueError("embedded null byte")
    if "/" not in argv[0]:
        if shutil.which(argv[0], path=environment.get("PATH")) is None:
            raise FileNotFoundError(argv[0])
        return
    place = os.path.join(cwd, argv[0])  # noqa: PTH118 - as the system would
    if not os.path.exists(place):  # noqa: PTH110
        raise FileNotFoundError(argv[0])
    if not os.access(place, os.X_OK):
        raise PermissionError(13, "it is not a program: it may not be executed", argv[0])
