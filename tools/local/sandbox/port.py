"""The sandbox port: a command goes in, and comes out as one that can do less."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Room:
    """What one command may do. `approved`: a person has seen exactly this command and said yes.

    Then it may reach the network, use the person's own credentials and caches, and change protected files of the
    workspace: it would be of no use otherwise. It still writes nowhere else.
    """

    workspace: str
    approved: bool = False
    #: Directories of the sidecar itself: never to be seen.
    private: tuple[str, ...] = ()


class Sandbox(Protocol):
    tier: str
    #: Whether the process that we start only watches over the command, and ends by itself after it.
    watched: bool

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> list[str]:
        """The command line that runs `argv` inside. `readonly` are paths of the workspace that stay as they are."""
