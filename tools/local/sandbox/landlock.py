"""The sandbox of Landlock and seccomp, for machines where bubblewrap is missing or forbidden.

A thread drops its rights, starts the command and ends. It hides and writes the same places as bubblewrap. It can't
hold files of the workspace, has no process namespace, and without the network not even a loopback.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tools.local.attribution.attributes import AttributeGuard
from tools.local.sandbox.access import LIBRARIES, CommandAccess, CommandLaunch, temporary_directory
from tools.local.sandbox.restrict import restrict_thread
from tools.local.sandbox.seccomp import Sockets, build_filter

#: Everything in `/` but these, then the useful parts of them. Other processes' entries in `/proc` show only their
#: names: Landlock treats a look inside as tracing, and forbids it.
_CLOSED = frozenset({"home", "root", "tmp", "run", "var", "dev", "mnt", "media", "Users"})
_USEFUL = ("/var/lib", "/var/cache", "/run/systemd/resolve")
#: No terminals: yours are beside any new one, and a rule covers all of them.
_DEVICES = """
/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/shm
"""


class Landlock:
    tier = "landlock"
    supervised = False
    holds_files = False
    own_network = False

    def __init__(self) -> None:
        self._tmp = temporary_directory(self)

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        hidden = {*access.hidden, *access.private}
        top = [f"/{entry}" for entry in os.listdir("/") if entry not in _CLOSED]  # noqa: PTH208
        system = [*top, *_USEFUL] if access.system else LIBRARIES
        homes = () if access.approved else (access.home, os.path.realpath(access.home))
        read = [part for place in system for part in _without(place, {*hidden, *homes})]
        read += [part for place in access.readable for part in _without(place, hidden)]
        read += [part for place in access.granted for part in _without(place, set(access.private))]
        inside = list(_without(access.workspace, hidden))
        write = [*(inside if access.writes else ()), self._tmp, *_devices(access), *access.writable]
        read += [] if access.writes else inside
        sockets: Sockets = "network" if access.network else "none"
        code = build_filter(sockets, approved=access.approved, attributes=access.writes)
        restrict = partial(restrict_thread, read, write, code)
        # A task's worktree is in the data directory.
        covered = [place for place in hidden if not f"{access.workspace}/".startswith(f"{place}/")]
        guard = AttributeGuard(write, covered) if access.writes else None
        return CommandLaunch(argv, {**environment, "TMPDIR": self._tmp}, restrict, guard=guard)


def _devices(access: CommandAccess) -> list[str]:
    """A search that is led to an endless device would read it for ever."""
    return _DEVICES.split() if access.system else ["/dev/null", "/dev/urandom"]


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
