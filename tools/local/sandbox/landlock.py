"""The sandbox of Landlock and seccomp, where bubblewrap is not there or not allowed: a small helper gives up rights.

It hides what bubblewrap hides and writes where it writes. It cannot keep a part of the workspace read-only, has no
process namespace, and without the network not even a loopback.
"""

import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.local.sandbox.home import caches, secrets
from tools.local.sandbox.port import Room

_HELPER = str(Path(__file__).with_name("helper.py"))
#: Of the system, everything but these; what is of use in them follows.
_SHUT = frozenset({"home", "root", "tmp", "run", "var", "proc", "dev", "mnt", "media", "Users"})
_OF_USE = ("/var/lib", "/var/cache", "/run/systemd/resolve", "/dev")
#: Of what the kernel tells, nothing about other processes: their environment has the person's keys in it.
_KERNEL_ONLY = frozenset({"kcore", "kmsg", "kallsyms", "sysrq-trigger", "vmallocinfo"})
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")  # noqa: S108


class Landlock:
    tier = "landlock"
    watched = False

    def __init__(self) -> None:
        # One for all commands of this process, gone with it: there is no /tmp of their own here.
        self._tmp = tempfile.mkdtemp(prefix="brain-")
        weakref.finalize(self, shutil.rmtree, self._tmp, ignore_errors=True)

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> list[str]:
        home = environment.get("HOME", "")
        hidden = {*(() if room.approved else secrets(home)), *room.private}
        top = [f"/{entry}" for entry in os.listdir("/") if entry not in _SHUT]  # noqa: PTH208
        read = [part for place in top for part in _without(place, hidden)]
        told = (entry for entry in os.listdir("/proc") if not entry.isdigit() and entry not in _KERNEL_ONLY)  # noqa: PTH208
        read += [f"/proc/{entry}" for entry in told]
        read += [*_OF_USE, *_without(home, hidden), *_without(sys.prefix, hidden), *_without(sys.base_prefix, hidden)]
        write = [room.workspace, self._tmp, *_DEVICES, *(caches(home) if room.approved else ())]
        inside = [place for place in hidden if place.startswith(f"{room.workspace}/")]
        if inside:
            write = [*_without(room.workspace, hidden), *write[1:]]
        spec = json.dumps({"read": read, "write": write, "network": room.approved, "tmp": self._tmp})
        return [sys.executable, "-I", "-S", _HELPER, spec, "--", *argv]


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
