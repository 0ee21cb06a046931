"""The sandbox of Landlock and seccomp, where bubblewrap is not there or not allowed.

A thread gives up its rights, starts the command and ends: no program stands in between, and this process keeps its own
rights. It hides what bubblewrap hides and writes where it writes. It cannot keep a part of the workspace read-only, has
no process namespace, and without the network not even a loopback.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tools.local.sandbox.home import caches, secrets
from tools.local.sandbox.port import Room, Start
from tools.local.sandbox.rights import give_up
from tools.local.sandbox.temporary import directory_of

#: Of the system, everything but these; what is of use in them follows. Of other processes `/proc` tells only their
#: names: what would look inside one is a kind of tracing, which Landlock forbids.
_SHUT = frozenset({"home", "root", "tmp", "run", "var", "dev", "mnt", "media", "Users"})
_OF_USE = ("/var/lib", "/var/cache", "/run/systemd/resolve")
_DEVICES = """
/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts /dev/shm
"""


class Landlock:
    tier = "landlock"
    watched = False
    holds = False

    def __init__(self) -> None:
        self._tmp = directory_of(self)

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> Start:
        home = environment.get("HOME", "")
        hidden = {*(() if room.approved else secrets(home)), *room.private}
        top = [f"/{entry}" for entry in os.listdir("/") if entry not in _SHUT]  # noqa: PTH208
        read = [part for place in top for part in _without(place, hidden)]
        read += [*_OF_USE, *_without(home, hidden), *_without(sys.prefix, hidden), *_without(sys.base_prefix, hidden)]
        write = [*_without(room.workspace, hidden), self._tmp, *_DEVICES.split()]
        write += caches(home) if room.approved else ()
        confined = partial(give_up, read, write, network=room.approved)
        return Start(argv, {**environment, "TMPDIR": self._tmp}, confined)


def _without(place: str, hidden: set[str]) -> Iterator[str]:
    """A directory, or its parts where something in it is hidden: a rule holds for all that is beneath."""
    if not place.startswith("/") or place in hidden or place == "/":
        return
    if not any(each.startswith(f"{place}/") for each in hidden):
        yield place
        return
    try:
        entries = os.listdir(place)  # noqa: PTH208
    except OSError:
        return
    for entry in entries:
        yield from _without(f"{place}/{entry}", hidden)
