"""The sandbox port: a command goes in, and comes out as one that can do less."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


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


class Start(NamedTuple):
    """How a command is started so that it runs inside.

    `give_up` is called in a thread of its own, which then starts the command and ends: whatever a thread has given up,
    what it starts has not either. Where it raises, nothing is started.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    give_up: Callable[[], None] | None = None


class Sandbox(Protocol):
    tier: str
    #: Whether the process that we start only watches over the command, and ends by itself after it.
    watched: bool
    #: Whether it can keep a part of the workspace as it is.
    holds: bool

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> Start:
        """How `argv` runs inside. `readonly` are paths of the workspace that stay as they are."""
