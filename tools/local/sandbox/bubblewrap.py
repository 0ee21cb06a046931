"""The sandbox of bubblewrap: the system can be read, the workspace written, and nothing else is there."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.local.sandbox.home import caches, secrets
from tools.local.sandbox.port import Room, Start

#: As root in a container a workspace may belong to somebody else; nothing more than its files is opened by this.
_ROOTS = ("--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN")

#: A command has empty ones of its own.
_EMPTIED = ("/tmp", "/var/tmp", "/run")  # noqa: S108
#: As root these would take effect on the whole machine.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")


class Bubblewrap:
    tier = "bubblewrap"
    watched = True
    holds = True

    def __init__(self, program: str) -> None:
        self._program = program

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> Start:
        line = [self._program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try"]
        line += [] if room.approved else ["--unshare-net"]
        line += ["--cap-drop", "ALL", *(_ROOTS if os.geteuid() == 0 else ())]
        line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for place in _KERNEL:
            line += ["--ro-bind-try", place, place]
        for place in _EMPTIED:
            line += ["--tmpfs", place] if Path(place).is_dir() and not Path(place).is_symlink() else []
        for place in {sys.prefix, sys.base_prefix}:
            # Our own Python, whose programs are on the PATH, may itself have been set up in one of these.
            line += ["--ro-bind", place, place] if place.startswith(_EMPTIED) else []
        home = environment.get("HOME", "")
        if room.approved:
            line += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
            for place in caches(home):
                line += ["--bind", place, place]
        if home.startswith(("/tmp/", "/var/tmp/")):  # noqa: S108
            line += ["--dir", home]
        line += ["--bind", room.workspace, room.workspace]
        for place in _repositories(readonly):
            # A place of its own cannot be moved away, to make room for another one.
            line += ["--bind", place, place]
        for place in readonly:
            # Of a link it is the place behind it that is kept, if that can be written at all.
            real = os.path.realpath(place) if Path(place).is_symlink() else place
            if Path(real).exists() and (real == place or real.startswith(f"{room.workspace}/")):
                line += ["--ro-bind-try", real, real]
        for place in (*(() if room.approved else secrets(home)), *room.private):
            # Last of all, so that nothing above uncovers it again.
            if Path(place).is_dir():
                line += ["--tmpfs", place]
            elif Path(place).exists():
                line += ["--ro-bind", "/dev/null", place]
        return Start([*line, "--setenv", "TMPDIR", "/tmp", "--chdir", cwd, "--", *argv], environment)  # noqa: S108


def _repositories(places: Sequence[str]) -> list[str]:
    found = {f"{before}/.git" for place in places for before, git, _ in [place.partition("/.git/")] if git}
    return sorted(place for place in found if not Path(place).is_symlink())
