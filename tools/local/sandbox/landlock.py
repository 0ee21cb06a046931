"""The sandbox of Landlock and seccomp, for machines where bubblewrap is missing or forbidden.

A thread drops its rights, starts the command and ends. It hides and writes the same places as bubblewrap. It can't
hold files of the workspace, has no process namespace, and without the network not even a loopback.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tools.local.sandbox.access import CommandAccess, CommandLaunch, temporary_directory
from tools.local.sandbox.restrict import restrict_thread

#: Everything in `/` but these, then the useful parts of them. Other processes' entries in `/proc` show only their
#: names: Landlock treats a look inside as tracing, and forbids it.
_CLOSED = frozenset({"home", "root", "tmp", "run", "var", "dev", "mnt", "media", "Users"})
_USEFUL = ("/var/lib", "/var/cache", "/run/systemd/resolve")
_DEVICES = """
/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts /dev/shm
"""


class Landlock:
    tier = "landlock"
    supervised = False
    holds_files = False

    def __init__(self) -> None:
        self._tmp = temporary_directory(self)

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        hidden = set(access.hidden)
        top = [f"/{entry}" for entry in os.listdir("/") if entry not in _CLOSED]  # noqa: PTH208
        read = [part for place in (*top, *access.readable) for part in _without(place, hidden)]
        inside = list(_without(access.workspace, hidden))
        write = [*(inside if access.writes else ()), self._tmp, *_DEVICES.split(), *access.writable]
        read += [] if access.writes else inside
        restrict = partial(restrict_thread, [*read, *_USEFUL], write, network=access.network)
        return CommandLaunch(argv, {**environment, "TMPDIR": self._tmp}, restrict)


def _without(place: str, hidden: set[str]) -> Iterator[str]:
    """A directory, or its entries where one of them is hidden: a rule covers everything beneath."""
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
