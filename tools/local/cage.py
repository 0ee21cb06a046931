"""One command inside a sandbox: what it may do, and what it found out there to be protected."""

import shutil
from collections.abc import Mapping, Sequence

from tools.local.sandbox.port import Room, Sandbox
from tools.protected import protected_places


class Cage:
    def __init__(self, sandbox: Sandbox, room: Room) -> None:
        self._sandbox = sandbox
        self._room = room
        self.watched = sandbox.watched

    def around(self, argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> list[str]:
        """Raises `FileNotFoundError` for a program that is not there, which is said best before the sandbox is."""
        if argv and "/" not in argv[0] and shutil.which(argv[0], path=environment.get("PATH")) is None:
            raise FileNotFoundError(argv[0])
        readonly = () if self._room.approved else protected_places(self._room.workspace)
        return self._sandbox.around(argv, self._room, cwd, environment, readonly)
